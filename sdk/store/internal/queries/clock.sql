-- ServerTime returns the clock of a PostgreSQL server, in milliseconds since 1970. SQLite has the machine's clock.
-- name: ServerTime :one
SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT) AS milliseconds;
