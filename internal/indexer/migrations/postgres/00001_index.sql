-- +goose Up
-- Amounts have 64 bits without sign, and BIGINT has 63: they are NUMERIC(20, 0), which nothing rounds.

-- How far the index is. There is one row; whoever writes raises its revision, so that two writers cannot both go on.
CREATE TABLE progress (
    id                   INTEGER PRIMARY KEY CHECK (id = 1),
    revision             BIGINT NOT NULL,
    program              TEXT NOT NULL,
    genesis_hash         TEXT NOT NULL,
    commitment           TEXT NOT NULL,
    -- Up to this slot everything is here and final.
    checkpoint_slot      BIGINT NOT NULL,
    -- The slots that the node had reached at the last look.
    head_slot            BIGINT NOT NULL,
    finalized_slot       BIGINT NOT NULL,
    -- A long history that is being read: its last slot, the oldest transaction listed so far with its slot, and whether the list
    -- is whole.
    backlog_slot         BIGINT,
    backlog_cursor       TEXT,
    backlog_cursor_slot  BIGINT,
    backlog_listed       BOOLEAN NOT NULL DEFAULT FALSE,
    updated_at           BIGINT NOT NULL
);

-- Transactions of a long history that are listed and not yet read. A higher place is an older transaction.
CREATE TABLE backlog (
    place      BIGINT PRIMARY KEY,
    slot       BIGINT NOT NULL,
    signature  TEXT NOT NULL,
    in_block   BIGINT
);
CREATE INDEX backlog_by_slot ON backlog (slot);

-- The blocks that have transactions of the program. A block that is not final may still be replaced.
CREATE TABLE slots (
    slot         BIGINT PRIMARY KEY,
    blockhash    TEXT NOT NULL,
    parent_slot  BIGINT NOT NULL,
    block_time   BIGINT,
    final        BOOLEAN NOT NULL
);

-- The successful transactions that mention the program, in their order within the block.
CREATE TABLE transactions (
    signature  TEXT PRIMARY KEY,
    slot       BIGINT NOT NULL,
    position   INTEGER NOT NULL,
    -- Why there may be events that are not here: "truncated", "malformed", "unknown event"; NULL when all are here.
    flaw       TEXT,
    -- The logs of a flawed transaction, as a JSON list. (JSONB would refuse what some programs log.)
    logs       TEXT,
    UNIQUE (slot, position)
);

-- What the program has logged. Beside its events there is "LogsTruncated", for each negotiation that a transaction with a flaw
-- has acted on: something may be missing there.
CREATE TABLE events (
    slot               BIGINT NOT NULL,
    position           INTEGER NOT NULL,
    event_index        INTEGER NOT NULL,
    -- The instruction of the transaction that has led to it; NULL when the logs do not tell.
    instruction_index  INTEGER,
    signature          TEXT NOT NULL,
    name               TEXT NOT NULL,
    negotiation        TEXT,
    -- An address that is closed can be used again: 1 is the first negotiation at this address, 0 one whose creation is not here.
    life               INTEGER,
    -- The chain's clock, in Unix seconds.
    timestamp          BIGINT,
    -- All fields: 64-bit numbers without sign as decimal strings, keys in base 58, other bytes in hex.
    fields             JSONB NOT NULL,
    -- The bytes that the program has logged; NULL for LogsTruncated.
    data               BYTEA,
    PRIMARY KEY (slot, position, event_index)
);
CREATE INDEX events_by_negotiation ON events (negotiation, life);
CREATE INDEX events_by_name ON events (name);

-- What the events say of each negotiation.
CREATE TABLE negotiations (
    negotiation        TEXT NOT NULL,
    life               INTEGER NOT NULL,
    created_slot       BIGINT,
    session_id         NUMERIC(20, 0),
    buyer              TEXT,
    seller             TEXT,
    mint               TEXT,
    service_hash       TEXT,
    escrow_amount      NUMERIC(20, 0),
    max_rounds         INTEGER,
    decay_rate_bps     INTEGER,
    protocol_fee_bps   INTEGER,
    min_offer_bps      INTEGER,
    response_window    BIGINT,
    global_deadline    BIGINT,
    zopa_enabled       BOOLEAN,
    bond_required      NUMERIC(20, 0),
    arbiter            TEXT,
    milestone_count    INTEGER,
    -- The time to review a claimed milestone, in hours.
    review_hours       INTEGER,
    created_at         BIGINT,
    status             TEXT NOT NULL,
    rounds             INTEGER NOT NULL,
    -- What the escrow is worth after the last offer's decay.
    effective_escrow   NUMERIC(20, 0),
    last_offer_amount  NUMERIC(20, 0),
    last_offer_by      TEXT,
    accepted_amount    NUMERIC(20, 0),
    accepted_round     INTEGER,
    accepted_by        TEXT,
    -- What has been paid, fee included, once the negotiation is settled.
    settled_amount     NUMERIC(20, 0),
    -- What the seller has got, the fee on it, what the rounds have cost, and what the buyer has got back.
    net_amount         NUMERIC(40, 0),
    fee                NUMERIC(40, 0),
    decay              NUMERIC(40, 0),
    refund             NUMERIC(40, 0),
    bond_state         TEXT NOT NULL,
    -- The parts of the seller's bond; NULL until it is settled, and if a part may be missing.
    bond_to_buyer      NUMERIC(20, 0),
    bond_to_seller     NUMERIC(20, 0),
    ended_at           BIGINT,
    ended_slot         BIGINT,
    closed_at          BIGINT,
    closed_slot        BIGINT,
    swept              NUMERIC(20, 0),
    -- False when a transaction with a flaw has acted on it, or its creation is not here.
    complete           BOOLEAN NOT NULL,
    PRIMARY KEY (negotiation, life)
);
CREATE INDEX negotiations_by_mint ON negotiations (mint);

-- The negotiations' accounts as last seen. state has every field of the account, written as in events.fields; it is NULL when
-- the account was gone before it could be read.
CREATE TABLE accounts (
    negotiation   TEXT NOT NULL,
    life          INTEGER NOT NULL,
    state         JSONB,
    -- The slot at which the chain had this state.
    as_of_slot    BIGINT,
    -- The slot of the last look, and whether the account was there.
    checked_slot  BIGINT NOT NULL,
    present       BOOLEAN NOT NULL,
    -- Whether that look was at a final slot.
    final         BOOLEAN NOT NULL,
    PRIMARY KEY (negotiation, life)
);
CREATE INDEX accounts_in_doubt ON accounts (checked_slot) WHERE NOT final;

-- Every offer. effective_escrow is what the escrow is worth after the offer's decay.
CREATE VIEW offers AS
SELECT
    e.slot, e.position, e.event_index, e.signature, e.timestamp, e.negotiation, e.life,
    n.mint, n.buyer, n.seller,
    (e.fields ->> 'round')::BIGINT AS round,
    CASE e.fields ->> 'offerer' WHEN n.buyer THEN 'Buyer' WHEN n.seller THEN 'Seller' END AS side,
    e.fields ->> 'offerer' AS offerer,
    (e.fields ->> 'amount')::NUMERIC(20, 0) AS amount,
    (e.fields ->> 'effective_escrow')::NUMERIC(20, 0) AS effective_escrow,
    COALESCE(n.accepted_round = (e.fields ->> 'round')::BIGINT, FALSE) AS accepted
FROM events e
JOIN negotiations n ON n.negotiation = e.negotiation AND n.life = e.life
WHERE e.name = 'OfferSubmitted';

-- The evidence of every claim (side Seller) and every dispute (side Buyer), in hex; zeros state none.
CREATE VIEW evidence AS
SELECT
    e.slot, e.position, e.event_index, e.signature, e.timestamp, e.negotiation, e.life,
    n.mint, n.buyer, n.seller,
    (e.fields ->> 'index')::BIGINT AS milestone,
    CASE e.name WHEN 'MilestoneClaimed' THEN 'Seller' ELSE 'Buyer' END AS side,
    e.fields ->> 'evidence' AS evidence
FROM events e
JOIN negotiations n ON n.negotiation = e.negotiation AND n.life = e.life
WHERE e.name IN ('MilestoneClaimed', 'MilestoneDisputed');

-- What became of each negotiation. Amounts are as of now while it goes on: net_amount + fee + decay + refund are escrow_amount
-- once it is over. Of one that is not complete the account's status is told, where that has been read.
CREATE VIEW outcomes AS
SELECT
    n.negotiation, n.life, n.session_id, n.buyer, n.seller, n.mint, n.service_hash,
    CASE WHEN n.complete THEN n.status ELSE COALESCE(a.state ->> 'status', n.status) END AS status,
    n.rounds, n.max_rounds, n.escrow_amount, n.settled_amount, n.net_amount, n.fee, n.decay, n.refund,
    n.accepted_by, n.bond_required, n.bond_state, n.bond_to_buyer, n.bond_to_seller, n.milestone_count, n.review_hours, n.swept,
    n.created_at, n.ended_at, n.ended_at - n.created_at AS duration_seconds, n.closed_at,
    n.created_slot, n.ended_slot, n.closed_slot, n.complete
FROM negotiations n
LEFT JOIN accounts a ON a.negotiation = n.negotiation AND a.life = n.life;

-- The last known state of each account, field by field.
CREATE VIEW account_states AS
SELECT
    a.negotiation, a.life, a.as_of_slot, a.checked_slot, a.present, a.final,
    a.state ->> 'buyer' AS buyer,
    a.state ->> 'seller' AS seller,
    (a.state ->> 'session_id')::NUMERIC(20, 0) AS session_id,
    a.state ->> 'status' AS status,
    (a.state ->> 'current_round')::BIGINT AS current_round,
    (a.state ->> 'current_offer_amount')::NUMERIC(20, 0) AS current_offer_amount,
    a.state ->> 'current_offer_by' AS current_offer_by,
    a.state ->> 'offer_side' AS offer_side,
    a.state ->> 'service_hash' AS service_hash,
    (a.state ->> 'escrow_amount')::NUMERIC(20, 0) AS escrow_amount,
    (a.state ->> 'effective_escrow')::NUMERIC(20, 0) AS effective_escrow,
    a.state ->> 'token_mint' AS token_mint,
    (a.state ->> 'max_rounds')::BIGINT AS max_rounds,
    (a.state ->> 'decay_rate_bps')::BIGINT AS decay_rate_bps,
    (a.state ->> 'response_window')::BIGINT AS response_window,
    (a.state ->> 'global_deadline')::BIGINT AS global_deadline,
    (a.state ->> 'min_offer_bps')::BIGINT AS min_offer_bps,
    (a.state ->> 'protocol_fee_bps')::BIGINT AS protocol_fee_bps,
    (a.state ->> 'zopa_enabled')::BOOLEAN AS zopa_enabled,
    (a.state ->> 'created_at')::BIGINT AS created_at,
    (a.state ->> 'last_offer_at')::BIGINT AS last_offer_at,
    (a.state ->> 'settled_at')::BIGINT AS settled_at,
    (a.state ->> 'settled_amount')::NUMERIC(20, 0) AS settled_amount,
    a.state ->> 'buyer_commitment' AS buyer_commitment,
    a.state ->> 'seller_commitment' AS seller_commitment,
    a.state ->> 'zopa_phase' AS zopa_phase,
    a.state ->> 'metadata' AS metadata,
    (a.state ->> 'bump')::BIGINT AS bump,
    (a.state ->> 'vault_bump')::BIGINT AS vault_bump,
    (a.state ->> 'version')::BIGINT AS version,
    (a.state ->> 'turn_deadline')::BIGINT AS turn_deadline,
    (a.state ->> 'pending_extension')::BIGINT AS pending_extension,
    (a.state ->> 'bond_required')::NUMERIC(20, 0) AS bond_required,
    a.state ->> 'bond_state' AS bond_state,
    (a.state ->> 'buyer_price')::NUMERIC(20, 0) AS buyer_price,
    (a.state ->> 'seller_price')::NUMERIC(20, 0) AS seller_price,
    a.state ->> 'arbiter' AS arbiter,
    (a.state ->> 'review_hours')::BIGINT AS review_hours,
    a.state -> 'milestone_bps' AS milestone_bps,
    (a.state ->> 'milestones_decided')::BIGINT AS milestones_decided,
    (a.state ->> 'milestones_claimed')::BIGINT AS milestones_claimed,
    (a.state ->> 'milestones_disputed')::BIGINT AS milestones_disputed,
    (a.state ->> 'milestone_deadline')::BIGINT AS milestone_deadline,
    (a.state ->> 'claimable_buyer')::NUMERIC(20, 0) AS claimable_buyer,
    (a.state ->> 'claimable_seller')::NUMERIC(20, 0) AS claimable_seller,
    (a.state ->> 'paid_gross')::NUMERIC(20, 0) AS paid_gross
FROM accounts a
WHERE a.state IS NOT NULL;

-- Sums per mint, in its base units, of the negotiations whose creation is here.
CREATE VIEW totals AS
SELECT
    mint,
    COUNT(*) AS negotiations,
    SUM(CASE WHEN status IN ('Created', 'Proposed', 'Countered') THEN 1 ELSE 0 END) AS open,
    SUM(CASE WHEN status = 'Accepted' THEN 1 ELSE 0 END) AS in_milestones,
    SUM(CASE WHEN status = 'Settled' THEN 1 ELSE 0 END) AS settled,
    SUM(CASE WHEN status = 'Rejected' THEN 1 ELSE 0 END) AS rejected,
    SUM(CASE WHEN status = 'Expired' THEN 1 ELSE 0 END) AS expired,
    SUM(CASE WHEN closed_at IS NULL THEN 0 ELSE 1 END) AS closed,
    SUM(CASE WHEN complete THEN 0 ELSE 1 END) AS incomplete,
    SUM(rounds) AS offers,
    COALESCE(SUM(escrow_amount), 0) AS escrowed,
    COALESCE(SUM(settled_amount), 0) AS settled_amount,
    COALESCE(SUM(net_amount), 0) AS net_amount,
    COALESCE(SUM(fee), 0) AS fees,
    COALESCE(SUM(decay), 0) AS decay,
    COALESCE(SUM(refund), 0) AS refunds
FROM outcomes
WHERE mint IS NOT NULL
GROUP BY mint;

-- Negotiations whose money does not add up. There are none.
CREATE VIEW violations AS
SELECT negotiation, life, status, escrow_amount, settled_amount, net_amount, fee, decay, refund, swept
FROM outcomes
WHERE complete AND status IN ('Settled', 'Rejected', 'Expired') AND (
    escrow_amount IS DISTINCT FROM net_amount + fee + decay + refund
    OR status = 'Settled' AND settled_amount IS DISTINCT FROM net_amount + fee
    OR swept < fee + decay);
