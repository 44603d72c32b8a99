-- name: AddEntry :exec
INSERT INTO arena_entries (market, sequence, entry, hash, salt, message)
VALUES (@market, @sequence, @entry, @hash, @salt, @message);

-- name: Entries :many
SELECT sequence, entry, hash, salt, message FROM arena_entries WHERE market = @market AND sequence > @after
ORDER BY sequence LIMIT @max_rows;
