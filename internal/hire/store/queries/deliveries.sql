-- name: AddDelivery :exec
INSERT INTO hire_deliveries (hash, conversation, created_at, size, content)
VALUES (@hash, @conversation, @now, @size, @content) ON CONFLICT (hash, conversation) DO NOTHING;

-- name: CountDeliveries :one
SELECT COUNT(*) FROM hire_deliveries WHERE conversation = @conversation AND hash <> @hash;

-- name: SumDeliveries :one
SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) AS size FROM hire_deliveries;

-- name: Delivery :one
SELECT d.content FROM hire_deliveries d JOIN hire_conversations c ON c.id = d.conversation
WHERE d.hash = @hash AND (c.seeker = @agent OR c.worker = @agent) LIMIT 1;

-- name: DeleteDeliveries :execrows
DELETE FROM hire_deliveries WHERE created_at < @before;

-- name: DeliveriesOf :many
SELECT hash, created_at, size FROM hire_deliveries WHERE conversation = @conversation ORDER BY created_at, hash;
