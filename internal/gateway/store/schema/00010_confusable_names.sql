-- skeleton is the form of a name as it looks, name_key that of the name without differences of case. They are NULL for
-- anonymous clients, and for older clients and publishers whose name an earlier one of them had already.
ALTER TABLE clients ADD COLUMN skeleton TEXT;
ALTER TABLE publishers ADD COLUMN name_key TEXT;
ALTER TABLE publishers ADD COLUMN skeleton TEXT;
UPDATE clients SET name_key = NULL;
CREATE UNIQUE INDEX clients_skeleton ON clients (skeleton);
CREATE UNIQUE INDEX publishers_name_key ON publishers (name_key);
CREATE UNIQUE INDEX publishers_skeleton ON publishers (skeleton);
