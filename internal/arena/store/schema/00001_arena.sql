-- +goose Up

-- Times are in microseconds since 1970. Hashes, seeds and salts are lower-case hexadecimal digits.

CREATE TABLE arena_markets (
    id           TEXT PRIMARY KEY,
    -- The seed of the speaking order is secret until the resolution. The first entry has the rest of the description.
    seed         TEXT NOT NULL,
    -- The process that applies messages, until a time. Another one may take over then.
    holder       TEXT NOT NULL,
    held_until   BIGINT NOT NULL,
    audit_length BIGINT NOT NULL,
    audit_head   TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL
);
CREATE INDEX arena_markets_changed ON arena_markets (updated_at);

-- The audit chains. They are the public logs: the first entry describes the market, and the others have the leaves
-- of the messages.
CREATE TABLE arena_entries (
    market   TEXT NOT NULL REFERENCES arena_markets (id),
    sequence BIGINT NOT NULL,
    entry    TEXT NOT NULL,
    hash     TEXT NOT NULL,
    -- The leaf's salt and the message in canonical form; empty for the first entry.
    salt     TEXT NOT NULL,
    message  TEXT NOT NULL,
    PRIMARY KEY (market, sequence)
);
