-- KeepSealedPrice never changes an existing row.
-- name: KeepSealedPrice :exec
INSERT INTO haggle_sealed_prices (commitment, negotiation, agent, created_at, secret)
VALUES (@commitment, @negotiation, @agent, @created_at, @secret)
ON CONFLICT (commitment) DO NOTHING;

-- name: SealedPrices :many
SELECT commitment, secret FROM haggle_sealed_prices
WHERE negotiation = @negotiation AND agent = @agent ORDER BY created_at, commitment;

-- name: DeleteSealedPrices :exec
DELETE FROM haggle_sealed_prices WHERE negotiation = @negotiation AND agent = @agent AND created_at = @created_at;
