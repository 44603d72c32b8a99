-- +goose Up
-- The reservation prices that the parties revealed; NULL before. nash_price is the price of the Nash solution for
-- linear utilities, their midpoint rounded down; NULL until both are revealed, and without a zone of agreement.
ALTER TABLE negotiations ADD COLUMN buyer_price NUMERIC(20, 0);
ALTER TABLE negotiations ADD COLUMN seller_price NUMERIC(20, 0);
ALTER TABLE negotiations ADD COLUMN nash_price NUMERIC(20, 0);
UPDATE negotiations n SET
    buyer_price = (SELECT (e.fields ->> 'price')::NUMERIC(20, 0) FROM events e WHERE e.negotiation = n.negotiation
        AND e.life = n.life AND e.name = 'ZopaRevealed' AND e.fields ->> 'agent' <> n.seller LIMIT 1),
    seller_price = (SELECT (e.fields ->> 'price')::NUMERIC(20, 0) FROM events e WHERE e.negotiation = n.negotiation
        AND e.life = n.life AND e.name = 'ZopaRevealed' AND e.fields ->> 'agent' = n.seller LIMIT 1),
    -- The event of the second reveal has the midpoint, the first one zero.
    nash_price = (SELECT (e.fields ->> 'midpoint')::NUMERIC(20, 0) FROM events e WHERE e.negotiation = n.negotiation
        AND e.life = n.life AND e.name = 'ZopaRevealed' AND e.fields ->> 'midpoint' <> '0' LIMIT 1)
WHERE (n.negotiation, n.life) IN (SELECT negotiation, life FROM events WHERE name = 'ZopaRevealed');

-- The outcome of each negotiation. Amounts are current while it is open: net_amount + fee + decay + refund equal
-- escrow_amount at the end. If it is not complete, the status is the account's, unless the ending is known.
CREATE OR REPLACE VIEW outcomes AS
SELECT
    n.negotiation, n.life, n.session_id, n.buyer, n.seller, n.mint, n.service_hash,
    CASE WHEN n.complete OR n.ended_slot IS NOT NULL THEN n.status ELSE COALESCE(a.state ->> 'status', n.status) END AS status,
    n.rounds, n.max_rounds, n.escrow_amount, n.settled_amount, n.net_amount, n.fee, n.decay, n.refund,
    n.accepted_by, n.bond_required, n.bond_state, n.bond_to_buyer, n.bond_to_seller, n.milestone_count, n.review_hours, n.swept,
    n.created_at, n.ended_at, n.ended_at - n.created_at AS duration_seconds, n.closed_at,
    n.created_slot, n.ended_slot, n.closed_slot, n.complete,
    n.buyer_price, n.seller_price, n.nash_price
FROM negotiations n
LEFT JOIN accounts a ON a.negotiation = n.negotiation AND a.life = n.life;
