-- LockConversation creates a conversation, or locks it until the transaction ends. A new one has no messages.
-- name: LockConversation :one
INSERT INTO hire_conversations (
    id, conversation_id, seeker, worker, state, phase, due, accepted_at, messages, audit_length, audit_head,
    created_at, updated_at
) VALUES (@id, @conversation_id, @seeker, @worker, '{}', '', 0, 0, 0, 0, '', @now, @now)
ON CONFLICT (id) DO UPDATE SET updated_at = excluded.updated_at
RETURNING state, accepted_at, messages, audit_length, audit_head;

-- LockExisting locks a conversation that exists.
-- name: LockExisting :one
UPDATE hire_conversations SET updated_at = updated_at WHERE id = @id
RETURNING state, accepted_at, messages, audit_length, audit_head;

-- name: SaveConversation :exec
UPDATE hire_conversations SET state = @state, phase = @phase, due = @due, accepted_at = @accepted_at,
    messages = @messages, audit_length = @audit_length, audit_head = @audit_head, updated_at = @now
WHERE id = @id;

-- name: AddSession :exec
INSERT INTO hire_sessions (session, conversation) VALUES (@session, @conversation) ON CONFLICT DO NOTHING;

-- CountOpen stops counting at a limit.
-- name: CountOpen :one
SELECT COUNT(*) FROM (SELECT 1 AS found FROM hire_conversations WHERE due >= @now LIMIT @most) AS counted;

-- name: Conversation :one
SELECT state FROM hire_conversations WHERE id = @id;

-- ConversationsNamed finds the conversations of an agent with an id and a seeker.
-- name: ConversationsNamed :many
SELECT id FROM hire_conversations
WHERE seeker = @seeker AND conversation_id = @conversation_id AND (seeker = @agent OR worker = @agent)
ORDER BY id LIMIT 2;

-- name: Conversations :many
SELECT id, state FROM (
    SELECT s.id, s.state FROM hire_conversations s WHERE s.seeker = @agent AND s.id > @after
    ORDER BY s.id LIMIT @max_rows
) AS sought
UNION ALL
SELECT id, state FROM (
    SELECT w.id, w.state FROM hire_conversations w WHERE w.worker = @agent AND w.id > @after
    ORDER BY w.id LIMIT @max_rows
) AS worked
ORDER BY id LIMIT @max_rows;

-- name: OpenConversations :many
SELECT id, state FROM hire_conversations
WHERE due >= @now AND (seeker = @agent OR worker = @agent) AND id > @after ORDER BY id LIMIT @max_rows;

-- name: ConversationsOfSession :many
SELECT c.id, c.state FROM hire_sessions s JOIN hire_conversations c ON c.id = s.conversation
WHERE s.session = @session AND (c.seeker = @agent OR c.worker = @agent) AND c.id > @after
ORDER BY c.id LIMIT @max_rows;

-- AwaitingContract lists the conversations whose contract is missing, the oldest first.
-- name: AwaitingContract :many
SELECT id, accepted_at FROM hire_conversations WHERE accepted_at > @since ORDER BY accepted_at, id;

-- HasSession reports whether both sides of a conversation have accepted a deal.
-- name: HasSession :one
SELECT EXISTS (SELECT 1 FROM hire_sessions WHERE conversation = @conversation);
