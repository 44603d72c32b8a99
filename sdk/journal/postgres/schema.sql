CREATE TABLE haggle_journal (
	number       bigserial   NOT NULL,
	signature    text        PRIMARY KEY,
	wallet       text        NOT NULL,
	action       text        NOT NULL,
	-- NULL if the action is not on a negotiation.
	negotiation  text,
	begun        timestamptz NOT NULL,
	-- The whole entry.
	entry        jsonb       NOT NULL,
	-- NULL if the entry has none.
	idempotency  text,
	intent       text,
	-- The client that waits for the outcome. NULL if no client does. The lease ends at leased_until, in
	-- milliseconds since 1970. When another client then reads the entry, the entry has no owner any more.
	owner        text,
	leased_until bigint      NOT NULL,
	-- Whether the transaction may be sent: the second step after the insertion of the row.
	authorized   boolean     NOT NULL DEFAULT false,
	outcome      text,
	finished     timestamptz,
	acknowledged boolean     NOT NULL DEFAULT false,
	CHECK ((outcome IS NULL) = (finished IS NULL))
);
CREATE INDEX haggle_journal_unfinished ON haggle_journal (wallet, number) WHERE outcome IS NULL;
CREATE UNIQUE INDEX haggle_journal_keys ON haggle_journal (wallet, idempotency)
	WHERE outcome IS NULL OR outcome = 'confirmed';
CREATE INDEX haggle_journal_unacknowledged ON haggle_journal (wallet, intent)
	WHERE outcome = 'confirmed' AND NOT acknowledged;
CREATE INDEX haggle_journal_owned ON haggle_journal (owner) WHERE outcome IS NULL;
