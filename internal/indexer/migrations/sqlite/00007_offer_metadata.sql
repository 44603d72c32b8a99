-- +goose Up
-- The column events.metadata also has the metadata of submitted offers, which is where agents publish the commitments to
-- their strategies. It is NULL for offers that an earlier version of haggle has indexed.
--
-- Every offer, with its metadata in hex.
DROP VIEW offers;
CREATE VIEW offers AS
SELECT
    e.slot, e.position, e.event_index, e.signature, e.timestamp, e.negotiation, e.life,
    n.mint, n.buyer, n.seller,
    json_extract(e.fields, '$.round') AS round,
    CASE json_extract(e.fields, '$.offerer') WHEN n.buyer THEN 'Buyer' WHEN n.seller THEN 'Seller' END AS side,
    json_extract(e.fields, '$.offerer') AS offerer,
    json_extract(e.fields, '$.amount') AS amount,
    json_extract(e.fields, '$.effective_escrow') AS effective_escrow,
    COALESCE(n.accepted_round = json_extract(e.fields, '$.round'), 0) AS accepted,
    CASE WHEN e.metadata IS NOT NULL THEN lower(hex(e.metadata)) END AS metadata
FROM events e
JOIN negotiations n ON n.negotiation = e.negotiation AND n.life = e.life
WHERE e.name = 'OfferSubmitted';
