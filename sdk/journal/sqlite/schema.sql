CREATE TABLE IF NOT EXISTS haggle_journal (
	number       INTEGER PRIMARY KEY,
	signature    TEXT    NOT NULL UNIQUE,
	wallet       TEXT    NOT NULL,
	action       TEXT    NOT NULL,
	-- NULL if the action is not on a negotiation.
	negotiation  TEXT,
	begun        TEXT    NOT NULL,
	-- The whole entry.
	entry        TEXT    NOT NULL,
	-- NULL if the entry has none.
	idempotency  TEXT,
	intent       TEXT,
	-- The client that waits for the outcome. NULL if no client does. The lease ends at leased_until, in
	-- milliseconds since 1970. When another client then reads the entry, the entry has no owner any more.
	owner        TEXT,
	leased_until INTEGER NOT NULL,
	-- Whether the transaction may be sent: the second step after the insertion of the row.
	authorized   INTEGER NOT NULL DEFAULT 0,
	outcome      TEXT,
	finished     TEXT,
	acknowledged INTEGER NOT NULL DEFAULT 0,
	CHECK ((outcome IS NULL) = (finished IS NULL))
) STRICT;
CREATE INDEX IF NOT EXISTS haggle_journal_unfinished ON haggle_journal (wallet, number) WHERE outcome IS NULL;
CREATE UNIQUE INDEX IF NOT EXISTS haggle_journal_keys ON haggle_journal (wallet, idempotency)
	WHERE outcome IS NULL OR outcome = 'confirmed';
CREATE INDEX IF NOT EXISTS haggle_journal_confirmed ON haggle_journal (wallet, idempotency)
	WHERE outcome = 'confirmed';
CREATE INDEX IF NOT EXISTS haggle_journal_unacknowledged ON haggle_journal (wallet, intent)
	WHERE outcome = 'confirmed' AND NOT acknowledged;
