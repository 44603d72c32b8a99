-- name: AddAnswer :exec
INSERT INTO idempotency_keys (owner, idempotency_key, body_hash, answer, created_at)
VALUES (@owner, @idempotency_key, @body_hash, @answer, @created_at);

-- name: Answer :one
SELECT body_hash, answer FROM idempotency_keys WHERE owner = @owner AND idempotency_key = @idempotency_key;

-- name: DeleteAnswers :execrows
DELETE FROM idempotency_keys WHERE (owner, idempotency_key) IN (
    SELECT old.owner, old.idempotency_key FROM idempotency_keys AS old
    WHERE old.created_at < @before ORDER BY old.created_at LIMIT @most);

-- UseNonce returns no row if the key has too many nonces.
-- name: UseNonce :one
INSERT INTO signature_nonces (key_id, nonce, expires_at)
SELECT CAST(@key_id AS TEXT), CAST(@nonce AS TEXT), CAST(@expires_at AS BIGINT)
WHERE (SELECT COUNT(*) FROM
    (SELECT 1 FROM signature_nonces AS kept WHERE kept.key_id = @key_id LIMIT @most) AS used) < @most
RETURNING nonce;

-- name: DeleteNonces :execrows
DELETE FROM signature_nonces WHERE (key_id, nonce) IN (
    SELECT old.key_id, old.nonce FROM signature_nonces AS old
    WHERE old.expires_at < @before ORDER BY old.expires_at LIMIT @most);
