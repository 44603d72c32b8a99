-- The state of the rules follows from the other columns. A process that still reads it must not decide here.
ALTER TABLE negotiations DROP COLUMN context;
