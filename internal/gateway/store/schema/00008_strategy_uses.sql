-- The deletion of a strategy's version looks for the negotiations that began with it.
CREATE INDEX negotiations_strategy ON negotiations (strategy_id);
