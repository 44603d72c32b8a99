-- UseNonce returns no row if the key has too many nonces.
-- name: UseNonce :one
INSERT INTO signature_nonces (key_id, nonce, expires_at)
SELECT CAST(@key_id AS TEXT), CAST(@nonce AS TEXT), CAST(@expires_at AS BIGINT)
WHERE (SELECT COUNT(*) FROM
    (SELECT 1 FROM signature_nonces AS kept WHERE kept.key_id = @key_id LIMIT CAST(@max_rows AS BIGINT)) AS used) < @max_rows
RETURNING nonce;

-- name: DeleteNonces :execrows
DELETE FROM signature_nonces WHERE (key_id, nonce) IN (
    SELECT old.key_id, old.nonce FROM signature_nonces AS old
    WHERE old.expires_at < @before ORDER BY old.expires_at LIMIT CAST(@max_rows AS BIGINT));
