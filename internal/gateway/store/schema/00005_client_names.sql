-- name_key is the name in the form in which names are compared. It is NULL for clients without a name, and
-- for older clients whose name an earlier one had already.
ALTER TABLE clients ADD COLUMN name_key TEXT;
CREATE UNIQUE INDEX clients_name_key ON clients (name_key);
