-- name: NextVersion :one
SELECT CAST(COALESCE(MAX(version), 0) + 1 AS BIGINT) AS version FROM negotiation_strategies
WHERE publisher_id = @publisher_id AND strategy_name = @strategy_name;

-- name: AddStrategy :one
INSERT INTO negotiation_strategies (publisher_id, strategy_name, version, definition, is_active, created_at,
    updated_at, negotiation_style, min_price_per_fetch_micro, preferred_price_per_fetch_micro,
    max_price_per_fetch_micro, min_token_ttl_seconds, preferred_token_ttl_seconds, max_token_ttl_seconds,
    min_burst_rps, preferred_burst_rps, max_burst_rps, allowed_purposes, preferred_purposes, deal_breakers,
    max_rounds, auto_accept_threshold, timeout_seconds, llm_provider, llm_model, llm_temperature, system_prompt)
VALUES (@publisher_id, @strategy_name, @version, @definition, @is_active, @created_at, @updated_at,
    @negotiation_style, @min_price_per_fetch_micro, @preferred_price_per_fetch_micro,
    @max_price_per_fetch_micro, @min_token_ttl_seconds, @preferred_token_ttl_seconds, @max_token_ttl_seconds,
    @min_burst_rps, @preferred_burst_rps, @max_burst_rps, @allowed_purposes, @preferred_purposes,
    @deal_breakers, @max_rounds, @auto_accept_threshold, @timeout_seconds, @llm_provider, @llm_model,
    @llm_temperature, @system_prompt)
RETURNING id, publisher_id, strategy_name, version, definition, is_active, created_at, updated_at;

-- name: SetActive :exec
UPDATE negotiation_strategies SET is_active = @is_active, updated_at = @updated_at WHERE id = @id;

-- name: Strategy :one
SELECT id, publisher_id, strategy_name, version, definition, is_active, created_at, updated_at
FROM negotiation_strategies WHERE id = @id;

-- name: StrategyOfPublisher :one
SELECT id, publisher_id, strategy_name, version, definition, is_active, created_at, updated_at
FROM negotiation_strategies WHERE publisher_id = @publisher_id AND id = @id;

-- name: ActiveStrategies :many
SELECT id, publisher_id, strategy_name, version, definition, is_active, created_at, updated_at
FROM negotiation_strategies WHERE publisher_id = @publisher_id AND is_active ORDER BY id;

-- name: StrategyUses :one
SELECT COUNT(*) FROM negotiations WHERE strategy_id = @strategy_id;

-- name: DeleteStrategy :exec
DELETE FROM negotiation_strategies WHERE id = @id;
