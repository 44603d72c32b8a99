-- AddMarket adds nothing if the market exists.
-- name: AddMarket :execrows
INSERT INTO arena_markets (id, seed, holder, held_until, audit_length, audit_head, created_at, updated_at)
VALUES (@id, @seed, '', 0, @audit_length, @audit_head, @now, @now) ON CONFLICT (id) DO NOTHING;

-- name: Markets :many
SELECT id FROM arena_markets WHERE id > @after ORDER BY id LIMIT @max_rows;

-- name: Market :one
SELECT seed, holder, held_until, audit_length FROM arena_markets WHERE id = @id;

-- TakeMarket changes nothing while another process holds the market.
-- name: TakeMarket :execrows
UPDATE arena_markets SET holder = @holder, held_until = @held_until
WHERE id = @id AND (holder = @holder OR held_until < @now);

-- GiveMarket ends the holder's time, so that another process can take the market.
-- name: GiveMarket :exec
UPDATE arena_markets SET held_until = @now WHERE id = @id AND holder = @holder AND held_until > @now;

-- ExtendChain changes nothing if another process holds the market or has written to its chain.
-- name: ExtendChain :execrows
UPDATE arena_markets SET audit_length = @audit_length, audit_head = @audit_head, updated_at = @now
WHERE id = @id AND holder = @holder AND audit_length = @before;
