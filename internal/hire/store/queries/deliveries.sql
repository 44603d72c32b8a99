-- name: AddDelivery :exec
INSERT INTO hire_deliveries (hash, conversation, created_at, size, content)
VALUES (@hash, @conversation, @now, @size, @content)
ON CONFLICT (hash, conversation) DO UPDATE SET content = excluded.content, size = excluded.size, created_at = excluded.created_at
WHERE hire_deliveries.size < 0;

-- name: CountDeliveries :one
SELECT COUNT(*) FROM hire_deliveries WHERE conversation = @conversation AND hash <> @hash;

-- name: SumDeliveries :one
SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) AS size FROM hire_deliveries WHERE size > 0;

-- name: Delivery :one
SELECT d.content FROM hire_deliveries d JOIN hire_conversations c ON c.id = d.conversation
WHERE d.hash = @hash AND d.size >= 0 AND (c.seeker = @agent OR c.worker = @agent) LIMIT 1;

-- DeleteDeliveries deletes contents. The rows remain, because they show that the worker has delivered.
-- name: DeleteDeliveries :execrows
UPDATE hire_deliveries SET content = @empty, size = -1 WHERE created_at < @before AND size >= 0;

-- name: DeliveriesOf :many
SELECT hash, created_at, size FROM hire_deliveries WHERE conversation = @conversation ORDER BY created_at, hash;
