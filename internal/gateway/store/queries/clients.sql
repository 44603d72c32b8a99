-- name: AddClient :one
INSERT INTO clients (kind, subject, name, name_key, skeleton, public_key, created_at)
VALUES (@kind, @subject, @name, @name_key, @skeleton, @public_key, @created_at)
RETURNING *;

-- name: AnonymousClient :one
INSERT INTO clients (kind, subject, created_at) VALUES ('anonymous', @subject, @created_at)
ON CONFLICT (kind, subject) DO UPDATE SET subject = excluded.subject
RETURNING *;

-- name: Client :one
SELECT * FROM clients WHERE id = @id;

-- name: ClientBySubject :one
SELECT * FROM clients WHERE kind = @kind AND subject = @subject;

-- name: ClientByForms :one
SELECT * FROM clients WHERE name_key = @name_key OR skeleton = @skeleton ORDER BY id LIMIT 1;

-- name: LockClient :one
SELECT * FROM clients WHERE id = @id
FOR NO KEY UPDATE;

-- name: UpdateClient :one
UPDATE clients
SET subject = @subject, public_key = @public_key, suspended_at = @suspended_at, key_revoked_at = @key_revoked_at
WHERE id = @id
RETURNING *;

-- name: AddFormerKey :exec
INSERT INTO former_client_keys (kind, subject, client_id, public_key, ended_at)
VALUES (@kind, @subject, @client_id, @public_key, @ended_at);

-- name: FormerKey :one
SELECT * FROM former_client_keys WHERE kind = @kind AND subject = @subject;

-- name: EndedPublicKey :one
SELECT client_id FROM former_client_keys AS former WHERE former.public_key = CAST(@public_key AS TEXT)
UNION ALL
SELECT revoked.id FROM clients AS revoked
WHERE revoked.public_key = CAST(@public_key AS TEXT) AND revoked.key_revoked_at IS NOT NULL AND revoked.id <> @id
LIMIT 1;
