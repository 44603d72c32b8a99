-- AddEventNumber returns the number of an agent's next event. It locks the agent's row until the transaction ends.
-- name: AddEventNumber :one
INSERT INTO hire_recipients (agent, last, updated_at, pushes) VALUES (@agent, 1, @now, @pushes)
ON CONFLICT (agent) DO UPDATE SET last = hire_recipients.last + 1, updated_at = excluded.updated_at,
    pushes = excluded.pushes
RETURNING last;

-- name: AddEvent :exec
INSERT INTO hire_events (recipient, number, conversation, sequence)
VALUES (@recipient, @number, @conversation, @sequence);

-- name: Events :many
SELECT e.number, n.entry FROM hire_events e
JOIN hire_entries n ON n.conversation = e.conversation AND n.sequence = e.sequence
WHERE e.recipient = @recipient AND e.number > @after ORDER BY e.number LIMIT @max_rows;

-- name: LatestEvent :one
SELECT CAST(COALESCE(MAX(last), 0) AS BIGINT) AS last FROM hire_recipients WHERE agent = @agent;

-- name: ChangedRecipients :many
SELECT agent, last FROM hire_recipients WHERE updated_at >= @since;
