-- name: Days :many
SELECT CAST(created_at / 86400000000 AS BIGINT) AS day, status, COUNT(*) AS count,
    CAST(AVG(current_round) AS DOUBLE PRECISION) AS rounds,
    CAST(COALESCE(AVG(completed_at - initiated_at), 0) AS DOUBLE PRECISION) AS micros,
    CAST(COALESCE(AVG(agreed_price_micro), 0) AS DOUBLE PRECISION) AS price_micro
FROM negotiations WHERE created_at >= @from_time AND created_at < @until_time
GROUP BY 1, 2 ORDER BY 1, 2;

-- name: DaysOfPublisher :many
SELECT CAST(created_at / 86400000000 AS BIGINT) AS day, status, COUNT(*) AS count,
    CAST(AVG(current_round) AS DOUBLE PRECISION) AS rounds,
    CAST(COALESCE(AVG(completed_at - initiated_at), 0) AS DOUBLE PRECISION) AS micros,
    CAST(COALESCE(AVG(agreed_price_micro), 0) AS DOUBLE PRECISION) AS price_micro
FROM negotiations WHERE created_at >= @from_time AND created_at < @until_time AND publisher_id = @publisher_id
GROUP BY 1, 2 ORDER BY 1, 2;

-- name: EndedTotals :many
SELECT status, COUNT(*) AS count, CAST(SUM(current_round) AS BIGINT) AS rounds,
    CAST(SUM(completed_at - initiated_at) AS BIGINT) AS micros
FROM negotiations WHERE completed_at > @after AND completed_at <= @until GROUP BY status ORDER BY status;

-- name: RecentTotals :many
SELECT n.status, COUNT(*) AS count, CAST(SUM(n.current_round) AS BIGINT) AS rounds,
    CAST(SUM(n.completed_at - n.initiated_at) AS BIGINT) AS micros
FROM negotiations AS n WHERE n.completed_at > @after GROUP BY n.status
UNION ALL
SELECT o.status, COUNT(*), CAST(SUM(o.current_round) AS BIGINT), CAST(0 AS BIGINT)
FROM negotiations AS o WHERE o.status IN ('initiated', 'negotiating', 'awaiting_approval') GROUP BY o.status;
