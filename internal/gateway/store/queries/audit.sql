-- name: AddAuditEntry :exec
INSERT INTO audit_entries (negotiation_id, sequence, entry, hash)
VALUES (@negotiation_id, @sequence, @entry, @hash);

-- name: AuditEntries :many
SELECT * FROM audit_entries WHERE negotiation_id = @negotiation_id AND sequence > @after
ORDER BY sequence LIMIT CAST(@max_rows AS BIGINT);
