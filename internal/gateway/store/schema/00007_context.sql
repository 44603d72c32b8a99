-- The state of the rules follows from the other columns. An older process, which reads this one, fails and decides
-- nothing.
ALTER TABLE negotiations DROP COLUMN context;
