-- name: AddKey :one
INSERT INTO api_keys (id, hash, name, scopes, publisher_id, client_id, created_at, expires_at)
VALUES (@id, @hash, @name, @scopes, @publisher_id, @client_id, @created_at, @expires_at)
RETURNING *;

-- name: Key :one
SELECT * FROM api_keys WHERE id = @id;

-- name: KeyWithOwner :one
SELECT sqlc.embed(api_keys), CAST(COALESCE(
    (SELECT clients.name FROM clients WHERE clients.id = api_keys.client_id),
    (SELECT publishers.name FROM publishers WHERE publishers.id = api_keys.publisher_id), '') AS TEXT) AS owner,
    CAST(COALESCE((SELECT clients.suspended_at FROM clients WHERE clients.id = api_keys.client_id), 0) AS BIGINT)
    AS owner_suspended_at
FROM api_keys WHERE hash = @hash;

-- name: LockKey :one
SELECT * FROM api_keys WHERE id = @id
FOR UPDATE;

-- name: RevokeKey :one
UPDATE api_keys SET revoked_at = COALESCE(revoked_at, @revoked_at) WHERE id = @id
RETURNING *;

-- name: ReplaceKey :one
UPDATE api_keys SET expires_at = @expires_at, replaced_by = @replaced_by WHERE id = @id
RETURNING *;

-- name: FirstAdministratorKey :one
INSERT INTO administrator_keys (id, hash, created_at)
SELECT CAST(@id AS UUID), CAST(@hash AS TEXT), CAST(@created_at AS BIGINT)
WHERE NOT EXISTS (SELECT 1 FROM administrator_keys)
RETURNING *;

-- name: AddAdministratorKey :one
INSERT INTO administrator_keys (id, hash, created_at) VALUES (@id, @hash, @created_at)
RETURNING *;

-- name: RevokeAdministratorKeys :exec
UPDATE administrator_keys SET revoked_at = COALESCE(revoked_at, @revoked_at);

-- name: AdministratorKeyByHash :one
SELECT * FROM administrator_keys WHERE hash = @hash;
