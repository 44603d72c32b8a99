-- +goose Up

-- The sealed reservation prices of parties, from before the commitment is sent until the reveal is confirmed.
CREATE TABLE haggle_sealed_prices (
    commitment   TEXT PRIMARY KEY,
    negotiation  TEXT NOT NULL,
    agent        TEXT NOT NULL,
    -- The creation time of the deal, in Unix seconds.
    created_at   BIGINT NOT NULL,
    -- The document of protocol.SealedPrice.Secret.
    secret       TEXT NOT NULL
);
CREATE INDEX haggle_sealed_prices_of_agent ON haggle_sealed_prices (negotiation, agent);
