-- name: AddLicense :one
INSERT INTO policies (publisher_id, client_id, negotiation_id, policy_json, created_at)
VALUES (@publisher_id, @client_id, @negotiation_id, @policy_json, @created_at)
RETURNING *;

-- name: License :one
SELECT * FROM policies WHERE id = @id;

-- name: LicenseOfNegotiation :one
SELECT * FROM policies WHERE negotiation_id = @negotiation_id AND publisher_id = @publisher_id;

-- name: RevokeLicense :one
UPDATE policies SET revoked_at = @revoked_at WHERE id = @id
RETURNING *;
