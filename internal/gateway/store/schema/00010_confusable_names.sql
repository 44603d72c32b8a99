-- skeleton is the UTS 39 skeleton of a name as written, name_key the skeleton of the name in lower case. Both are
-- NULL for anonymous clients, and for older clients and publishers whose name looks like an earlier name.
ALTER TABLE clients ADD COLUMN skeleton TEXT;
ALTER TABLE publishers ADD COLUMN name_key TEXT;
ALTER TABLE publishers ADD COLUMN skeleton TEXT;
UPDATE clients SET name_key = NULL;
CREATE UNIQUE INDEX clients_skeleton ON clients (skeleton);
CREATE UNIQUE INDEX publishers_name_key ON publishers (name_key);
CREATE UNIQUE INDEX publishers_skeleton ON publishers (skeleton);
