-- +goose Up
-- Of a negotiation that is not complete, amounts that may lack a part are NULL from here on: zero would pass for all of it.
UPDATE negotiations SET net_amount = NULL, fee = NULL, decay = NULL, refund = NULL, bond_state = 'Unknown' WHERE NOT complete;

-- What became of each negotiation. Amounts are as of now while it goes on: net_amount + fee + decay + refund are escrow_amount
-- once it is over. Of one that is not complete the account's status is told, where that has been read, unless it is known how the
-- negotiation has ended: an account can be gone since.
CREATE OR REPLACE VIEW outcomes AS
SELECT
    n.negotiation, n.life, n.session_id, n.buyer, n.seller, n.mint, n.service_hash,
    CASE WHEN n.complete OR n.ended_slot IS NOT NULL THEN n.status ELSE COALESCE(a.state ->> 'status', n.status) END AS status,
    n.rounds, n.max_rounds, n.escrow_amount, n.settled_amount, n.net_amount, n.fee, n.decay, n.refund,
    n.accepted_by, n.bond_required, n.bond_state, n.bond_to_buyer, n.bond_to_seller, n.milestone_count, n.review_hours, n.swept,
    n.created_at, n.ended_at, n.ended_at - n.created_at AS duration_seconds, n.closed_at,
    n.created_slot, n.ended_slot, n.closed_slot, n.complete
FROM negotiations n
LEFT JOIN accounts a ON a.negotiation = n.negotiation AND a.life = n.life;
