-- The nonces of accepted signatures: all gateways of a database refuse a second use.
CREATE TABLE signature_nonces (
    key_id                      TEXT NOT NULL,
    nonce                       TEXT NOT NULL,
    expires_at                  BIGINT NOT NULL,
    PRIMARY KEY (key_id, nonce)
);
CREATE INDEX signature_nonces_expires ON signature_nonces (expires_at);
