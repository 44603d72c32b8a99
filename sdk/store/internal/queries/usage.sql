-- CreateUsageLog does nothing if the log exists.
-- name: CreateUsageLog :exec
INSERT INTO haggle_usage_logs (wallet, last) VALUES (@wallet, 0) ON CONFLICT (wallet) DO NOTHING;

-- AdvanceUsageLog changes no row if last is the number of an earlier record.
-- name: AdvanceUsageLog :execrows
UPDATE haggle_usage_logs SET last = last + 1 WHERE wallet = @wallet AND last = @last;

-- name: AddUsageRecord :exec
INSERT INTO haggle_usage_records (wallet, number, record) VALUES (@wallet, @number, @record);

-- name: DeleteUsageRecords :exec
DELETE FROM haggle_usage_records WHERE wallet = @wallet AND number < @before;

-- name: UsageRecords :many
SELECT number, record FROM haggle_usage_records WHERE wallet = @wallet AND number > @after ORDER BY number;
