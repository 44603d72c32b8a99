-- +goose Up

-- Times are in microseconds since 1970, zero if there is none. Hashes are lower-case hexadecimal digits.

-- An id is the SHA-256 of a conversation's id and its two parties: see ConversationID. It is also the name of the
-- conversation's audit chain.
CREATE TABLE hire_conversations (
    id              TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL,
    seeker          TEXT NOT NULL,
    worker          TEXT NOT NULL,
    -- The hire.State after the last message, as JSON, and its phase.
    state           TEXT NOT NULL,
    phase           TEXT NOT NULL,
    -- The time until which the deal is open: until then a message or the contract can follow.
    due             BIGINT NOT NULL,
    -- The time of the second accept, while a copy of the contract is missing.
    accepted_at     BIGINT NOT NULL,
    -- The number of the parties' messages. The audit chain also has the contract's copies.
    messages        BIGINT NOT NULL,
    audit_length    BIGINT NOT NULL,
    audit_head      TEXT NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_at      BIGINT NOT NULL
);
CREATE INDEX hire_conversations_of_seeker ON hire_conversations (seeker, id);
CREATE INDEX hire_conversations_named ON hire_conversations (seeker, conversation_id);
CREATE INDEX hire_conversations_of_worker ON hire_conversations (worker, id);
-- The home limits the open conversations, so each list of them reads a small part of this index.
CREATE INDEX hire_conversations_open ON hire_conversations (due, seeker, worker);
CREATE INDEX hire_conversations_accepted ON hire_conversations (accepted_at) WHERE accepted_at > 0;
CREATE INDEX hire_conversations_changed ON hire_conversations (updated_at);

-- The audit chains. An entry's data is the message, its time the arrival.
CREATE TABLE hire_entries (
    conversation TEXT NOT NULL REFERENCES hire_conversations (id),
    sequence     BIGINT NOT NULL,
    entry        TEXT NOT NULL,
    hash         TEXT NOT NULL,
    -- The hash of the message. A conversation stores a message once.
    message      TEXT NOT NULL,
    PRIMARY KEY (conversation, sequence),
    UNIQUE (message, conversation)
);

-- The agents that messages are sent to. last is the number of the newest event; a transaction that adds one locks
-- the row, so the numbers have no gaps and are in the order of the commits.
CREATE TABLE hire_recipients (
    agent      TEXT PRIMARY KEY,
    last       BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    -- Whether the events are also pushed to the agent's inbox: all up to the number pushed are done. The next
    -- attempt is at push_at; a process that pushes moves it into the future. failures counts the attempts since
    -- the last success.
    pushes     BOOLEAN NOT NULL,
    pushed     BIGINT NOT NULL DEFAULT 0,
    push_at    BIGINT NOT NULL DEFAULT 0,
    failures   BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX hire_recipients_changed ON hire_recipients (updated_at);
CREATE INDEX hire_recipients_behind ON hire_recipients (push_at) WHERE pushes AND pushed < last;

CREATE TABLE hire_events (
    recipient    TEXT NOT NULL REFERENCES hire_recipients (agent),
    number       BIGINT NOT NULL,
    conversation TEXT NOT NULL,
    sequence     BIGINT NOT NULL,
    PRIMARY KEY (recipient, number),
    FOREIGN KEY (conversation, sequence) REFERENCES hire_entries (conversation, sequence)
);

-- The sessions on chain of the accepted deals, as decimal digits.
CREATE TABLE hire_sessions (
    session      TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES hire_conversations (id),
    PRIMARY KEY (session, conversation)
);
CREATE INDEX hire_sessions_of_conversation ON hire_sessions (conversation);

-- The keys that the cards of agents had at first use, as Solana addresses, or their proven successors. settlement is
-- empty for an agent that settles nothing.
CREATE TABLE hire_pins (
    origin     TEXT PRIMARY KEY,
    key        TEXT NOT NULL,
    settlement TEXT NOT NULL
);

-- What workers have delivered.
CREATE TABLE hire_deliveries (
    hash         TEXT NOT NULL,
    conversation TEXT NOT NULL REFERENCES hire_conversations (id),
    created_at   BIGINT NOT NULL,
    size         BIGINT NOT NULL,
    content      BYTEA NOT NULL,
    PRIMARY KEY (hash, conversation)
);
CREATE INDEX hire_deliveries_of_conversation ON hire_deliveries (conversation);
CREATE INDEX hire_deliveries_by_age ON hire_deliveries (created_at, size);
