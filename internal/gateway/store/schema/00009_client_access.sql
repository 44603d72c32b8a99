-- The requests of a suspended client are refused, and those that its revoked key signs.
ALTER TABLE clients ADD COLUMN suspended_at BIGINT;
ALTER TABLE clients ADD COLUMN key_revoked_at BIGINT;

-- The keys with which clients signed before. No client gets them again.
CREATE TABLE former_client_keys (
    kind                        TEXT NOT NULL,
    subject                     TEXT NOT NULL,
    client_id                   BIGINT NOT NULL REFERENCES clients (id),
    public_key                  TEXT NOT NULL,
    ended_at                    BIGINT NOT NULL,
    PRIMARY KEY (kind, subject)
);
