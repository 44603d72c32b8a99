-- LockBudget orders the reservations of a budget until the transaction ends.
-- name: LockBudget :exec
INSERT INTO haggle_budgets (wallet, name, reservations) VALUES (@wallet, @name, 1)
ON CONFLICT (wallet, name) DO UPDATE SET reservations = haggle_budgets.reservations + 1;

-- name: DeleteOldExpenses :exec
DELETE FROM haggle_expenses WHERE wallet = @wallet AND budget = @budget AND spent_at <= @before;

-- MoveLaterExpenses corrects the expenses of a clock that was ahead.
-- name: MoveLaterExpenses :exec
UPDATE haggle_expenses SET spent_at = @now WHERE wallet = @wallet AND budget = @budget AND spent_at > @now;

-- name: SumExpenses :one
SELECT CAST(COALESCE(SUM(lamports), 0) AS BIGINT) AS lamports,
    CAST(COALESCE(MIN(spent_at), @now) AS BIGINT) AS oldest
FROM haggle_expenses WHERE wallet = @wallet AND budget = @budget;

-- name: AddExpense :exec
INSERT INTO haggle_expenses (id, wallet, budget, spent_at, lamports)
VALUES (@id, @wallet, @budget, @spent_at, @lamports);

-- name: SettleExpense :execrows
UPDATE haggle_expenses SET lamports = @lamports, spent_at = @spent_at WHERE id = @expense;

-- name: DeleteExpense :execrows
DELETE FROM haggle_expenses WHERE id = @expense;
