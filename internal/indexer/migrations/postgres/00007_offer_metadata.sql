-- +goose Up
-- The column events.metadata also has the metadata of submitted offers, which is where agents publish the commitments to
-- their strategies. It is NULL for offers that an earlier version of haggle has indexed.
--
-- Every offer, with its metadata in hex.
CREATE OR REPLACE VIEW offers AS
SELECT
    e.slot, e.position, e.event_index, e.signature, e.timestamp, e.negotiation, e.life,
    n.mint, n.buyer, n.seller,
    (e.fields ->> 'round')::BIGINT AS round,
    CASE e.fields ->> 'offerer' WHEN n.buyer THEN 'Buyer' WHEN n.seller THEN 'Seller' END AS side,
    e.fields ->> 'offerer' AS offerer,
    (e.fields ->> 'amount')::NUMERIC(20, 0) AS amount,
    (e.fields ->> 'effective_escrow')::NUMERIC(20, 0) AS effective_escrow,
    COALESCE(n.accepted_round = (e.fields ->> 'round')::BIGINT, FALSE) AS accepted,
    encode(e.metadata, 'hex') AS metadata
FROM events e
JOIN negotiations n ON n.negotiation = e.negotiation AND n.life = e.life
WHERE e.name = 'OfferSubmitted';
