-- +goose Up
-- Signed statements of agents about their strategy, their model and its prompt. Of two statements of an agent with
-- the same time the one with the greater signature is kept.
CREATE TABLE declarations (
    agent        TEXT NOT NULL,
    -- The agent's own time, in Unix seconds.
    declared_at  INTEGER NOT NULL,
    strategy     TEXT NOT NULL,
    model        TEXT NOT NULL,
    -- The SHA-256 of the prompt in hex; empty if there is none.
    prompt_hash  TEXT NOT NULL,
    signature    TEXT NOT NULL,
    -- The time at which this database got it, by the clock of the machine.
    received_at  INTEGER NOT NULL,
    PRIMARY KEY (agent, declared_at)
) STRICT;

-- The declaration that holds for a side of a negotiation: the agent's latest one up to the creation. Late means that
-- this database got it after the creation, so that the agent can have written it with hindsight.
CREATE VIEW declared AS
SELECT
    n.negotiation, n.life, 'Buyer' AS side, d.agent, d.strategy, d.model, d.prompt_hash, d.declared_at, d.received_at,
    d.received_at > n.created_at AS late
FROM negotiations n
JOIN declarations d ON d.agent = n.buyer AND d.declared_at = (
    SELECT MAX(l.declared_at) FROM declarations l WHERE l.agent = n.buyer AND l.declared_at <= n.created_at)
UNION ALL
SELECT
    n.negotiation, n.life, 'Seller' AS side, d.agent, d.strategy, d.model, d.prompt_hash, d.declared_at, d.received_at,
    d.received_at > n.created_at AS late
FROM negotiations n
JOIN declarations d ON d.agent = n.seller AND d.declared_at = (
    SELECT MAX(l.declared_at) FROM declarations l WHERE l.agent = n.seller AND l.declared_at <= n.created_at);
