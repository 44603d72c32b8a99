-- A publisher can have several active versions, with different schedules. The transactions that activate them
-- lock the publisher.
DROP INDEX negotiation_strategies_active;
CREATE INDEX negotiation_strategies_active ON negotiation_strategies (publisher_id) WHERE is_active;
