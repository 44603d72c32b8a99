-- DeleteFinishedEntry allows a transaction that has been finished to begin again.
-- name: DeleteFinishedEntry :exec
DELETE FROM haggle_journal WHERE signature = @signature AND outcome <> '';

-- AddEntry adds nothing if an entry has the signature, or if the wallet has an unfinished or confirmed one with
-- the idempotency key.
-- name: AddEntry :execrows
INSERT INTO haggle_journal (
    signature, number, wallet, action, negotiation, idempotency, intent, begun_at, entry, owner, leased_until
) VALUES (
    @signature, (SELECT COALESCE(MAX(number), 0) + 1 FROM haggle_journal), @wallet, @action, @negotiation,
    @idempotency, @intent, @begun_at, @entry, @owner, @leased_until
) ON CONFLICT DO NOTHING;

-- AuthorizeEntry is the second step, after which the transaction may be sent.
-- name: AuthorizeEntry :execrows
UPDATE haggle_journal SET authorized = TRUE WHERE signature = @signature AND owner = @owner AND outcome = '';

-- RevokeEntry changes only an entry that no other client can authorise at the same time.
-- name: RevokeEntry :execrows
UPDATE haggle_journal SET outcome = @outcome, finished_at = @now
WHERE signature = @signature AND outcome = '' AND NOT authorized
    AND (owner = '' OR owner = @owner OR leased_until <= @now);

-- name: EntryOutcome :one
SELECT outcome FROM haggle_journal WHERE signature = @signature;

-- FinishEntry writes an outcome unless there is one, and an acknowledgement. Only the owner can know that a
-- transaction was not sent.
-- name: FinishEntry :execrows
UPDATE haggle_journal SET
    outcome = CASE WHEN outcome = '' THEN @outcome ELSE outcome END,
    finished_at = CASE WHEN outcome = '' THEN @now ELSE finished_at END,
    acknowledged = acknowledged OR CAST(@acknowledged AS BOOLEAN)
WHERE signature = @signature AND (outcome = '' OR (CAST(@acknowledged AS BOOLEAN) AND NOT acknowledged))
    AND (outcome <> '' OR NOT CAST(@not_sent AS BOOLEAN) OR owner = @owner);

-- ConfirmedEntryOfKey repeats the condition of the unique index, so that SQLite uses it.
-- name: ConfirmedEntryOfKey :one
SELECT entry FROM haggle_journal
WHERE wallet = @wallet AND idempotency = @idempotency AND outcome = 'confirmed'
    AND idempotency <> '' AND (outcome = '' OR outcome = 'confirmed');

-- name: ConfirmedEntryOfIntent :one
SELECT entry FROM haggle_journal
WHERE wallet = @wallet AND intent = @intent AND intent <> '' AND outcome = 'confirmed' AND NOT acknowledged
ORDER BY number, signature LIMIT 1;

-- name: UnfinishedEntries :many
SELECT signature, entry, authorized, owner, leased_until FROM haggle_journal
WHERE wallet = @wallet AND outcome = '' ORDER BY number, signature;

-- AbandonEntries takes entries from the other owners whose leases have ended.
-- name: AbandonEntries :exec
UPDATE haggle_journal SET owner = ''
WHERE wallet = @wallet AND outcome = '' AND owner <> '' AND owner <> @owner AND leased_until <= @now;

-- RenewLeases leaves out entries between the two steps. An entry that a Begin has written after its client had
-- given it up can then be revoked by any client.
-- name: RenewLeases :exec
UPDATE haggle_journal SET leased_until = @leased_until WHERE owner = @owner AND authorized AND outcome = '';

-- name: ReleaseLeases :exec
UPDATE haggle_journal SET owner = '' WHERE owner = @owner AND outcome = '';

-- name: ForgetEntries :execrows
DELETE FROM haggle_journal
WHERE outcome <> '' AND finished_at < @before AND (outcome <> 'confirmed' OR acknowledged);
