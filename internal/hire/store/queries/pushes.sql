-- DuePushes lists agents with events to push, the longest waiting first.
-- name: DuePushes :many
SELECT agent, pushed, failures FROM hire_recipients WHERE pushes AND pushed < last AND push_at <= @now
ORDER BY push_at, agent LIMIT @max_rows;

-- ClaimPush changes no row if another process pushes the agent's events.
-- name: ClaimPush :many
UPDATE hire_recipients SET push_at = @until
WHERE agent = @agent AND pushes AND pushed < last AND push_at <= @now
RETURNING pushed, failures;

-- SavePush stores the newest event that is done, and the time of the next attempt.
-- name: SavePush :exec
UPDATE hire_recipients SET pushed = @pushed, push_at = @push_at, failures = @failures
WHERE agent = @agent AND pushed <= @pushed;
