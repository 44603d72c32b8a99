package jobs

import (
	"context"
	"database/sql"
	"log/slog"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/haggle-protocol/haggle/sdk/store/database"
)

// schema is PostgreSQL's schema of River's tables. Tournaments use River in the public one, and a leader
// there does not insert the gateway's jobs.
const schema = "haggle_gateway_jobs"

// lockNumber is the advisory lock for schema changes.
const lockNumber = 0x6861_6767_6c65_6a62

// migratePostgres creates River's tables. Processes do so in turn.
func migratePostgres(ctx context.Context, pool *pgxpool.Pool) (err error) {
	connection, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer connection.Release()
	if _, err := connection.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(lockNumber)); err != nil {
		return err
	}
	defer func() {
		// A connection that cannot unlock is broken, and closing it frees the lock.
		_, _ = connection.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", int64(lockNumber))
	}()
	if _, err := connection.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
		return err
	}
	return migrate(ctx, riverpgxv5.New(pool), schema)
}

func migrateSQLite(ctx context.Context, driver *riversqlite.Driver) error {
	_, err := database.Retry(ctx, func() (struct{}, error) {
		return struct{}{}, migrate[*sql.Tx](ctx, driver, "")
	})
	return err
}

func migrate[TX any](ctx context.Context, driver riverdriver.Driver[TX], into string) error {
	migrator, err := rivermigrate.New(driver,
		&rivermigrate.Config{Logger: slog.New(slog.DiscardHandler), Schema: into})
	if err != nil {
		return err
	}
	_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}
