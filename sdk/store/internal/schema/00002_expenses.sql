-- +goose Up

-- A keeper's reservation locks the row of its budget.
CREATE TABLE haggle_budgets (
    wallet       TEXT NOT NULL,
    name         TEXT NOT NULL,
    reservations BIGINT NOT NULL,
    PRIMARY KEY (wallet, name)
);
-- The expenses of the last 24 hours.
CREATE TABLE haggle_expenses (
    id           TEXT PRIMARY KEY,
    wallet       TEXT NOT NULL,
    budget       TEXT NOT NULL,
    -- In milliseconds since 1970, by the database's clock.
    spent_at     BIGINT NOT NULL,
    lamports     BIGINT NOT NULL CHECK (lamports >= 0),
    FOREIGN KEY (wallet, budget) REFERENCES haggle_budgets (wallet, name)
);
CREATE INDEX haggle_expenses_of_budget ON haggle_expenses (wallet, budget, spent_at);
