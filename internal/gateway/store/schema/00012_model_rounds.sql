-- A process that starts counts what the day's language models have used.
CREATE INDEX negotiation_rounds_model ON negotiation_rounds (created_at) WHERE llm_model IS NOT NULL;
