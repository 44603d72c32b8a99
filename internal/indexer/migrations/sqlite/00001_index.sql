-- +goose Up
-- Amounts have 64 bits without sign, and SQLite's integers have 63: they are decimal TEXT, which nothing rounds. Views add
-- them in two parts, above and below 10^9, so that sums are exact too. To sort by one: ORDER BY length(amount), amount.

-- How far the index is. There is one row; whoever writes raises its revision, so that two writers cannot both go on.
CREATE TABLE progress (
    id                   INTEGER PRIMARY KEY CHECK (id = 1),
    revision             INTEGER NOT NULL,
    program              TEXT NOT NULL,
    genesis_hash         TEXT NOT NULL,
    commitment           TEXT NOT NULL,
    -- Up to this slot everything is here and final.
    checkpoint_slot      INTEGER NOT NULL,
    -- The slots that the node had reached at the last look.
    head_slot            INTEGER NOT NULL,
    finalized_slot       INTEGER NOT NULL,
    -- A long history that is being read: its last slot, the oldest transaction listed so far with its slot, and whether the list
    -- is whole.
    backlog_slot         INTEGER,
    backlog_cursor       TEXT,
    backlog_cursor_slot  INTEGER,
    backlog_listed       INTEGER NOT NULL DEFAULT 0,
    updated_at           INTEGER NOT NULL
) STRICT;

-- Transactions of a long history that are listed and not yet read. A higher place is an older transaction.
CREATE TABLE backlog (
    place      INTEGER PRIMARY KEY,
    slot       INTEGER NOT NULL,
    signature  TEXT NOT NULL,
    in_block   INTEGER
) STRICT;
CREATE INDEX backlog_by_slot ON backlog (slot);

-- The blocks that have transactions of the program. A block that is not final may still be replaced.
CREATE TABLE slots (
    slot         INTEGER PRIMARY KEY,
    blockhash    TEXT NOT NULL,
    parent_slot  INTEGER NOT NULL,
    block_time   INTEGER,
    final        INTEGER NOT NULL
) STRICT;

-- The successful transactions that mention the program, in their order within the block.
CREATE TABLE transactions (
    signature  TEXT PRIMARY KEY,
    slot       INTEGER NOT NULL,
    position   INTEGER NOT NULL,
    -- Why there may be events that are not here: "truncated", "malformed", "unknown event"; NULL when all are here.
    flaw       TEXT,
    -- The logs of a flawed transaction, as a JSON list. (JSONB would refuse what some programs log.)
    logs       TEXT,
    UNIQUE (slot, position)
) STRICT;

-- What the program has logged. Beside its events there is "LogsTruncated", for each negotiation that a transaction with a flaw
-- has acted on: something may be missing there.
CREATE TABLE events (
    slot               INTEGER NOT NULL,
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
    timestamp          INTEGER,
    -- All fields: 64-bit numbers without sign as decimal strings, keys in base 58, other bytes in hex.
    fields             TEXT NOT NULL,
    -- The bytes that the program has logged; NULL for LogsTruncated.
    data               BLOB,
    PRIMARY KEY (slot, position, event_index)
) STRICT;
CREATE INDEX events_by_negotiation ON events (negotiation, life);
CREATE INDEX events_by_name ON events (name);

-- What the events say of each negotiation.
CREATE TABLE negotiations (
    negotiation        TEXT NOT NULL,
    life               INTEGER NOT NULL,
    created_slot       INTEGER,
    session_id         TEXT,
    buyer              TEXT,
    seller             TEXT,
    mint               TEXT,
    service_hash       TEXT,
    escrow_amount      TEXT,
    max_rounds         INTEGER,
    decay_rate_bps     INTEGER,
    protocol_fee_bps   INTEGER,
    min_offer_bps      INTEGER,
    response_window    INTEGER,
    global_deadline    INTEGER,
    zopa_enabled       INTEGER,
    bond_required      TEXT,
    arbiter            TEXT,
    milestone_count    INTEGER,
    -- The time to review a claimed milestone, in hours.
    review_hours       INTEGER,
    created_at         INTEGER,
    status             TEXT NOT NULL,
    rounds             INTEGER NOT NULL,
    -- What the escrow is worth after the last offer's decay.
    effective_escrow   TEXT,
    last_offer_amount  TEXT,
    last_offer_by      TEXT,
    accepted_amount    TEXT,
    accepted_round     INTEGER,
    accepted_by        TEXT,
    -- What has been paid, fee included, once the negotiation is settled.
    settled_amount     TEXT,
    -- What the seller has got, the fee on it, what the rounds have cost, and what the buyer has got back.
    net_amount         TEXT,
    fee                TEXT,
    decay              TEXT,
    refund             TEXT,
    bond_state         TEXT NOT NULL,
    -- The parts of the seller's bond; NULL until it is settled, and if a part may be missing.
    bond_to_buyer      TEXT,
    bond_to_seller     TEXT,
    ended_at           INTEGER,
    ended_slot         INTEGER,
    closed_at          INTEGER,
    closed_slot        INTEGER,
    swept              TEXT,
    -- False when a transaction with a flaw has acted on it, or its creation is not here.
    complete           INTEGER NOT NULL,
    PRIMARY KEY (negotiation, life)
) STRICT;
CREATE INDEX negotiations_by_mint ON negotiations (mint);

-- The negotiations' accounts as last seen. state has every field of the account, written as in events.fields; it is NULL when
-- the account was gone before it could be read.
CREATE TABLE accounts (
    negotiation   TEXT NOT NULL,
    life          INTEGER NOT NULL,
    state         TEXT,
    -- The slot at which the chain had this state.
    as_of_slot    INTEGER,
    -- The slot of the last look, and whether the account was there.
    checked_slot  INTEGER NOT NULL,
    present       INTEGER NOT NULL,
    -- Whether that look was at a final slot.
    final         INTEGER NOT NULL,
    PRIMARY KEY (negotiation, life)
) STRICT;
CREATE INDEX accounts_in_doubt ON accounts (checked_slot) WHERE NOT final;

-- Every offer. effective_escrow is what the escrow is worth after the offer's decay.
CREATE VIEW offers AS
SELECT
    e.slot, e.position, e.event_index, e.signature, e.timestamp, e.negotiation, e.life,
    n.mint, n.buyer, n.seller,
    json_extract(e.fields, '$.round') AS round,
    CASE json_extract(e.fields, '$.offerer') WHEN n.buyer THEN 'Buyer' WHEN n.seller THEN 'Seller' END AS side,
    json_extract(e.fields, '$.offerer') AS offerer,
    json_extract(e.fields, '$.amount') AS amount,
    json_extract(e.fields, '$.effective_escrow') AS effective_escrow,
    COALESCE(n.accepted_round = json_extract(e.fields, '$.round'), 0) AS accepted
FROM events e
JOIN negotiations n ON n.negotiation = e.negotiation AND n.life = e.life
WHERE e.name = 'OfferSubmitted';

-- The evidence of every claim (side Seller) and every dispute (side Buyer), in hex; zeros state none.
CREATE VIEW evidence AS
SELECT
    e.slot, e.position, e.event_index, e.signature, e.timestamp, e.negotiation, e.life,
    n.mint, n.buyer, n.seller,
    json_extract(e.fields, '$.index') AS milestone,
    CASE e.name WHEN 'MilestoneClaimed' THEN 'Seller' ELSE 'Buyer' END AS side,
    json_extract(e.fields, '$.evidence') AS evidence
FROM events e
JOIN negotiations n ON n.negotiation = e.negotiation AND n.life = e.life
WHERE e.name IN ('MilestoneClaimed', 'MilestoneDisputed');

-- What became of each negotiation. Amounts are as of now while it goes on: net_amount + fee + decay + refund are escrow_amount
-- once it is over. Of one that is not complete the account's status is told, where that has been read.
CREATE VIEW outcomes AS
SELECT
    n.negotiation, n.life, n.session_id, n.buyer, n.seller, n.mint, n.service_hash,
    CASE WHEN n.complete THEN n.status ELSE COALESCE(json_extract(a.state, '$.status'), n.status) END AS status,
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
    json_extract(a.state, '$.buyer') AS buyer,
    json_extract(a.state, '$.seller') AS seller,
    json_extract(a.state, '$.session_id') AS session_id,
    json_extract(a.state, '$.status') AS status,
    json_extract(a.state, '$.current_round') AS current_round,
    json_extract(a.state, '$.current_offer_amount') AS current_offer_amount,
    json_extract(a.state, '$.current_offer_by') AS current_offer_by,
    json_extract(a.state, '$.offer_side') AS offer_side,
    json_extract(a.state, '$.service_hash') AS service_hash,
    json_extract(a.state, '$.escrow_amount') AS escrow_amount,
    json_extract(a.state, '$.effective_escrow') AS effective_escrow,
    json_extract(a.state, '$.token_mint') AS token_mint,
    json_extract(a.state, '$.max_rounds') AS max_rounds,
    json_extract(a.state, '$.decay_rate_bps') AS decay_rate_bps,
    json_extract(a.state, '$.response_window') AS response_window,
    json_extract(a.state, '$.global_deadline') AS global_deadline,
    json_extract(a.state, '$.min_offer_bps') AS min_offer_bps,
    json_extract(a.state, '$.protocol_fee_bps') AS protocol_fee_bps,
    json_extract(a.state, '$.zopa_enabled') AS zopa_enabled,
    json_extract(a.state, '$.created_at') AS created_at,
    json_extract(a.state, '$.last_offer_at') AS last_offer_at,
    json_extract(a.state, '$.settled_at') AS settled_at,
    json_extract(a.state, '$.settled_amount') AS settled_amount,
    json_extract(a.state, '$.buyer_commitment') AS buyer_commitment,
    json_extract(a.state, '$.seller_commitment') AS seller_commitment,
    json_extract(a.state, '$.zopa_phase') AS zopa_phase,
    json_extract(a.state, '$.metadata') AS metadata,
    json_extract(a.state, '$.bump') AS bump,
    json_extract(a.state, '$.vault_bump') AS vault_bump,
    json_extract(a.state, '$.version') AS version,
    json_extract(a.state, '$.turn_deadline') AS turn_deadline,
    json_extract(a.state, '$.pending_extension') AS pending_extension,
    json_extract(a.state, '$.bond_required') AS bond_required,
    json_extract(a.state, '$.bond_state') AS bond_state,
    json_extract(a.state, '$.buyer_price') AS buyer_price,
    json_extract(a.state, '$.seller_price') AS seller_price,
    json_extract(a.state, '$.arbiter') AS arbiter,
    json_extract(a.state, '$.review_hours') AS review_hours,
    json_extract(a.state, '$.milestone_bps') AS milestone_bps,
    json_extract(a.state, '$.milestones_decided') AS milestones_decided,
    json_extract(a.state, '$.milestones_claimed') AS milestones_claimed,
    json_extract(a.state, '$.milestones_disputed') AS milestones_disputed,
    json_extract(a.state, '$.milestone_deadline') AS milestone_deadline,
    json_extract(a.state, '$.claimable_buyer') AS claimable_buyer,
    json_extract(a.state, '$.claimable_seller') AS claimable_seller,
    json_extract(a.state, '$.paid_gross') AS paid_gross
FROM accounts a
WHERE a.state IS NOT NULL;

-- The amounts of outcomes in two parts: 10^9 times high, plus low.
CREATE VIEW outcome_parts AS
SELECT
    *,
    CAST(substr(escrow_amount, 1, length(escrow_amount) - 9) AS INTEGER) AS escrow_amount_high, CAST(substr(escrow_amount, -9) AS INTEGER) AS escrow_amount_low,
    CAST(substr(settled_amount, 1, length(settled_amount) - 9) AS INTEGER) AS settled_amount_high, CAST(substr(settled_amount, -9) AS INTEGER) AS settled_amount_low,
    CAST(substr(net_amount, 1, length(net_amount) - 9) AS INTEGER) AS net_amount_high, CAST(substr(net_amount, -9) AS INTEGER) AS net_amount_low,
    CAST(substr(fee, 1, length(fee) - 9) AS INTEGER) AS fee_high, CAST(substr(fee, -9) AS INTEGER) AS fee_low,
    CAST(substr(decay, 1, length(decay) - 9) AS INTEGER) AS decay_high, CAST(substr(decay, -9) AS INTEGER) AS decay_low,
    CAST(substr(refund, 1, length(refund) - 9) AS INTEGER) AS refund_high, CAST(substr(refund, -9) AS INTEGER) AS refund_low,
    CAST(substr(swept, 1, length(swept) - 9) AS INTEGER) AS swept_high, CAST(substr(swept, -9) AS INTEGER) AS swept_low
FROM outcomes;

CREATE VIEW total_parts AS
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
    COALESCE(SUM(escrow_amount_high), 0) AS escrowed_high, COALESCE(SUM(escrow_amount_low), 0) AS escrowed_low,
    COALESCE(SUM(settled_amount_high), 0) AS settled_amount_high, COALESCE(SUM(settled_amount_low), 0) AS settled_amount_low,
    COALESCE(SUM(net_amount_high), 0) AS net_amount_high, COALESCE(SUM(net_amount_low), 0) AS net_amount_low,
    COALESCE(SUM(fee_high), 0) AS fees_high, COALESCE(SUM(fee_low), 0) AS fees_low,
    COALESCE(SUM(decay_high), 0) AS decay_high, COALESCE(SUM(decay_low), 0) AS decay_low,
    COALESCE(SUM(refund_high), 0) AS refunds_high, COALESCE(SUM(refund_low), 0) AS refunds_low
FROM outcome_parts
WHERE mint IS NOT NULL
GROUP BY mint;

-- Sums per mint, in its base units, of the negotiations whose creation is here.
CREATE VIEW totals AS
SELECT
    mint, negotiations, open, in_milestones, settled, rejected, expired, closed, incomplete, offers,
    CASE WHEN escrowed_high + escrowed_low / 1000000000 = 0 THEN CAST(escrowed_low AS TEXT)
        ELSE (escrowed_high + escrowed_low / 1000000000) || printf('%09d', escrowed_low % 1000000000) END AS escrowed,
    CASE WHEN settled_amount_high + settled_amount_low / 1000000000 = 0 THEN CAST(settled_amount_low AS TEXT)
        ELSE (settled_amount_high + settled_amount_low / 1000000000) || printf('%09d', settled_amount_low % 1000000000) END AS settled_amount,
    CASE WHEN net_amount_high + net_amount_low / 1000000000 = 0 THEN CAST(net_amount_low AS TEXT)
        ELSE (net_amount_high + net_amount_low / 1000000000) || printf('%09d', net_amount_low % 1000000000) END AS net_amount,
    CASE WHEN fees_high + fees_low / 1000000000 = 0 THEN CAST(fees_low AS TEXT)
        ELSE (fees_high + fees_low / 1000000000) || printf('%09d', fees_low % 1000000000) END AS fees,
    CASE WHEN decay_high + decay_low / 1000000000 = 0 THEN CAST(decay_low AS TEXT)
        ELSE (decay_high + decay_low / 1000000000) || printf('%09d', decay_low % 1000000000) END AS decay,
    CASE WHEN refunds_high + refunds_low / 1000000000 = 0 THEN CAST(refunds_low AS TEXT)
        ELSE (refunds_high + refunds_low / 1000000000) || printf('%09d', refunds_low % 1000000000) END AS refunds
FROM total_parts;

-- Negotiations whose money does not add up. There are none.
CREATE VIEW violations AS
SELECT negotiation, life, status, escrow_amount, settled_amount, net_amount, fee, decay, refund, swept
FROM (
    SELECT
        *,
        net_amount_high + fee_high AS paid_high, net_amount_low + fee_low AS paid_low,
        fee_high + decay_high AS kept_high, fee_low + decay_low AS kept_low,
        net_amount_high + fee_high + decay_high + refund_high AS all_high,
        net_amount_low + fee_low + decay_low + refund_low AS all_low
    FROM outcome_parts
    WHERE complete AND status IN ('Settled', 'Rejected', 'Expired')
)
WHERE escrow_amount_high IS NOT all_high + all_low / 1000000000 OR escrow_amount_low IS NOT all_low % 1000000000
    OR status = 'Settled' AND (settled_amount_high IS NOT paid_high + paid_low / 1000000000
        OR settled_amount_low IS NOT paid_low % 1000000000)
    OR swept_high < kept_high + kept_low / 1000000000
    OR swept_high = kept_high + kept_low / 1000000000 AND swept_low < kept_low % 1000000000;
