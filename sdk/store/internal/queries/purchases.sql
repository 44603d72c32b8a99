-- BeginPurchase adds no row if the wallet has used the key.
-- name: BeginPurchase :exec
INSERT INTO haggle_purchases (wallet, key, terms, generation, negotiation, round)
VALUES (@wallet, @key, @terms, 0, '', 0)
ON CONFLICT (wallet, key) DO NOTHING;

-- name: Purchase :one
SELECT terms, generation, negotiation, round FROM haggle_purchases WHERE wallet = @wallet AND key = @key;

-- AuthorizePurchase changes no row if the purchase has another generation.
-- name: AuthorizePurchase :execrows
UPDATE haggle_purchases SET generation = generation + 1, negotiation = @negotiation, round = @round
WHERE wallet = @wallet AND key = @key AND generation = @generation;
