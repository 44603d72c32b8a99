-- The key that replaces a rotated one, which ends at its expires_at.
ALTER TABLE api_keys ADD COLUMN replaced_by {{.UUID}} REFERENCES api_keys (id);
