-- name: AddPublisher :one
INSERT INTO publishers (hostname, name, currency, published_floor_micro, is_active, created_at, updated_at)
VALUES (@hostname, @name, @currency, @published_floor_micro, @is_active, @now, @now)
RETURNING *;

-- name: UpdatePublisher :one
UPDATE publishers
SET name = @name, currency = @currency, published_floor_micro = @published_floor_micro, is_active = @is_active,
    updated_at = @updated_at
WHERE id = @id
RETURNING *;

-- name: Publisher :one
SELECT * FROM publishers WHERE id = @id;

-- name: PublisherByHostname :one
SELECT * FROM publishers WHERE hostname = @hostname;

-- name: LockPublisher :one
SELECT * FROM publishers WHERE id = @id
FOR NO KEY UPDATE;
