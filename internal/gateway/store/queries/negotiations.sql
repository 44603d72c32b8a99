-- name: AddBundle :exec
INSERT INTO bundles (id, client_id, definition, created_at) VALUES (@id, @client_id, @definition, @created_at);

-- name: AddNegotiation :exec
INSERT INTO negotiations (id, publisher_id, client_id, client_name, anonymous, bundle_id, strategy_id, status,
    reason, current_round, initial_proposal, current_terms, current_offer_by, final_terms, agreed_price_micro,
    generated_policy_id, initiated_by, initiated_at, completed_at, last_activity_at, deadline_at,
    audit_length, audit_head, created_at, updated_at)
VALUES (@id, @publisher_id, @client_id, @client_name, @anonymous, @bundle_id, @strategy_id, @status,
    @reason, @current_round, @initial_proposal, @current_terms, @current_offer_by, @final_terms,
    @agreed_price_micro, @generated_policy_id, @initiated_by, @initiated_at, @completed_at, @last_activity_at,
    @deadline_at, @audit_length, @audit_head, @created_at, @updated_at);

-- UpdateNegotiation writes the columns that a decision can change.
-- name: UpdateNegotiation :exec
UPDATE negotiations
SET status = @status, reason = @reason, current_round = @current_round, current_terms = @current_terms,
    current_offer_by = @current_offer_by, final_terms = @final_terms, agreed_price_micro = @agreed_price_micro,
    generated_policy_id = @generated_policy_id, completed_at = @completed_at,
    last_activity_at = @last_activity_at, deadline_at = @deadline_at,
    audit_length = @audit_length, audit_head = @audit_head, updated_at = @updated_at
WHERE id = @id;

-- name: Negotiation :one
SELECT * FROM negotiations WHERE id = @id;

-- Late returns open negotiations that have passed their deadline; the condition is that of the partial index.
-- name: Late :many
SELECT * FROM negotiations
WHERE status IN ('initiated', 'negotiating', 'awaiting_approval') AND deadline_at <= @now
ORDER BY deadline_at LIMIT CAST(@max_rows AS BIGINT)
FOR UPDATE SKIP LOCKED;

-- Overdue returns negotiations whose newest proposal has no answer, some time after it or in the second half of the time
-- until the deadline.
-- name: Overdue :many
SELECT id FROM negotiations
WHERE status IN ('initiated', 'negotiating') AND current_offer_by = 'client' AND deadline_at > @now
    AND (last_activity_at <= @before OR last_activity_at + deadline_at <= CAST(@twice_now AS BIGINT))
ORDER BY deadline_at LIMIT CAST(@max_rows AS BIGINT);

-- name: AddRound :exec
INSERT INTO negotiation_rounds (id, negotiation_id, round_number, actor, action, proposed_terms, reasoning,
    llm_model, llm_tokens_used, llm_response_time_ms, analysis, created_at)
VALUES (@id, @negotiation_id, @round_number, @actor, @action, @proposed_terms, @reasoning,
    @llm_model, @llm_tokens_used, @llm_response_time_ms, @analysis, @created_at);

-- name: Rounds :many
SELECT * FROM negotiation_rounds WHERE negotiation_id = @negotiation_id ORDER BY round_number, id;

-- name: ModelRounds :many
SELECT id, analysis FROM negotiation_rounds WHERE llm_model IS NOT NULL AND created_at >= @since;

-- name: AddMessage :exec
INSERT INTO negotiation_messages (id, negotiation_id, round_id, sender, message_type, message, structured_data,
    created_at)
VALUES (@id, @negotiation_id, @round_id, @sender, @message_type, @message, @structured_data, @created_at);
