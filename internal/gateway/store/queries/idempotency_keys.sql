-- name: AddIdempotencyKey :exec
INSERT INTO idempotency_keys (owner, idempotency_key, body_hash, answer, created_at)
VALUES (@owner, @idempotency_key, @body_hash, @answer, @created_at);

-- name: FindIdempotencyKey :one
SELECT body_hash, answer FROM idempotency_keys WHERE owner = @owner AND idempotency_key = @idempotency_key;

-- name: DeleteIdempotencyKeys :execrows
DELETE FROM idempotency_keys WHERE (owner, idempotency_key) IN (
    SELECT old.owner, old.idempotency_key FROM idempotency_keys AS old
    WHERE old.created_at < @before ORDER BY old.created_at LIMIT CAST(@max_rows AS BIGINT));
