-- +goose Up

-- The transactions of wallets, from before they are sent. A column of text is empty if the entry has no value.
CREATE TABLE haggle_journal (
    signature    TEXT PRIMARY KEY,
    -- Orders the entries of a wallet by their beginning.
    number       BIGINT NOT NULL,
    wallet       TEXT NOT NULL,
    action       TEXT NOT NULL,
    negotiation  TEXT NOT NULL,
    idempotency  TEXT NOT NULL,
    intent       TEXT NOT NULL,
    -- Times are in milliseconds since 1970.
    begun_at     BIGINT NOT NULL,
    -- The whole entry as JSON.
    entry        TEXT NOT NULL,
    -- The client that waits for the outcome. The lease ends at leased_until. When another client then reads
    -- the entry, the entry has no owner any more.
    owner        TEXT NOT NULL,
    leased_until BIGINT NOT NULL,
    -- Whether the transaction may be sent: the second step after the insertion of the row.
    authorized   BOOLEAN NOT NULL DEFAULT FALSE,
    outcome      TEXT NOT NULL DEFAULT '',
    finished_at  BIGINT NOT NULL DEFAULT 0,
    acknowledged BOOLEAN NOT NULL DEFAULT FALSE,
    CHECK ((outcome = '') = (finished_at = 0))
);
CREATE INDEX haggle_journal_order ON haggle_journal (number);
CREATE INDEX haggle_journal_unfinished ON haggle_journal (wallet, number) WHERE outcome = '';
CREATE INDEX haggle_journal_owned ON haggle_journal (owner) WHERE outcome = '';
-- A wallet does not execute two actions with one idempotency key.
CREATE UNIQUE INDEX haggle_journal_keys ON haggle_journal (wallet, idempotency)
    WHERE idempotency <> '' AND (outcome = '' OR outcome = 'confirmed');
CREATE INDEX haggle_journal_intents ON haggle_journal (wallet, intent, number) WHERE intent <> '';
