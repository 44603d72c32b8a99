-- The keys of the gateway's operators. They have neither a publisher nor a client.
CREATE TABLE administrator_keys (
    id                          {{.UUID}} PRIMARY KEY,
    hash                        TEXT NOT NULL UNIQUE,
    created_at                  BIGINT NOT NULL,
    revoked_at                  BIGINT
);

-- The Ed25519 key of clients that sign their requests, in base64url. A client of Web Bot Auth is found by its
-- agent and the thumbprint of the key, from which the key itself does not follow.
ALTER TABLE clients ADD COLUMN public_key TEXT;
