-- AddEntry adds nothing if the conversation has the message.
-- name: AddEntry :execrows
INSERT INTO hire_entries (conversation, sequence, entry, hash, message)
VALUES (@conversation, @sequence, @entry, @hash, @message) ON CONFLICT (message, conversation) DO NOTHING;

-- name: HasMessage :one
SELECT EXISTS (SELECT 1 FROM hire_entries WHERE message = @message AND conversation = @conversation);

-- HasMessageAnywhere looks for a message in all conversations.
-- name: HasMessageAnywhere :one
SELECT EXISTS (SELECT 1 FROM hire_entries WHERE message = @message);

-- name: EntryOfMessage :one
SELECT entry FROM hire_entries WHERE message = @message AND conversation = @conversation;

-- name: Entries :many
SELECT sequence, entry, hash FROM hire_entries WHERE conversation = @conversation AND sequence > @after
ORDER BY sequence LIMIT @max_rows;

-- LatestEntries returns a conversation's latest entries, the newest first.
-- name: LatestEntries :many
SELECT entry FROM hire_entries WHERE conversation = @conversation ORDER BY sequence DESC LIMIT @max_rows;
