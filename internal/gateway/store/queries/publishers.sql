-- name: AddPublisher :one
INSERT INTO publishers (hostname, name, name_key, skeleton, currency, published_floor_micro, is_active, created_at,
    updated_at)
VALUES (@hostname, @name, @name_key, @skeleton, @currency, @published_floor_micro, @is_active, @now, @now)
RETURNING *;

-- name: UpdatePublisher :one
UPDATE publishers
SET name = @name, name_key = @name_key, skeleton = @skeleton, currency = @currency, published_floor_micro = @published_floor_micro,
    is_active = @is_active, updated_at = @updated_at
WHERE id = @id
RETURNING *;

-- name: Publisher :one
SELECT * FROM publishers WHERE id = @id;

-- name: PublisherByHostname :one
SELECT * FROM publishers WHERE hostname = @hostname;

-- name: LockPublisher :one
SELECT * FROM publishers WHERE id = @id
FOR NO KEY UPDATE;

-- name: PublisherByForms :one
SELECT * FROM publishers WHERE name_key = @name_key OR skeleton = @skeleton ORDER BY id LIMIT 1;

-- name: UnreservedNames :many
SELECT CAST('client' AS TEXT) AS owner, id, CAST(name AS TEXT) AS name FROM clients
WHERE name IS NOT NULL AND skeleton IS NULL
UNION ALL
SELECT CAST('publisher' AS TEXT) AS owner, id, name FROM publishers WHERE skeleton IS NULL
ORDER BY 1, 2 LIMIT CAST(@max_rows AS BIGINT);
