-- +goose Up

-- The negotiation that a purchase may conclude (agent.PurchaseRecord). No other of the purchase's negotiations may
-- be concluded until this one has moved on.
CREATE TABLE haggle_purchases (
    wallet       TEXT NOT NULL,
    key          TEXT NOT NULL,
    -- A hash of the sellers and the terms, in hex.
    terms        TEXT NOT NULL,
    -- The number of authorisations so far.
    generation   BIGINT NOT NULL,
    -- Empty before the first authorisation.
    negotiation  TEXT NOT NULL,
    -- The number of offers that the authorised move answers.
    round        BIGINT NOT NULL,
    PRIMARY KEY (wallet, key)
);
