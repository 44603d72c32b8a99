-- +goose Up

-- The usage records of a wallet's policies. last is the number of the newest record.
CREATE TABLE haggle_usage_logs (
    wallet      TEXT PRIMARY KEY,
    last        BIGINT NOT NULL
);
CREATE TABLE haggle_usage_records (
    wallet      TEXT NOT NULL REFERENCES haggle_usage_logs (wallet),
    number      BIGINT NOT NULL,
    -- The record as JSON.
    record      TEXT NOT NULL,
    PRIMARY KEY (wallet, number)
);
