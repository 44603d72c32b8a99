package store

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// TestWaitForALockIsBounded has a transaction that holds its locks for longer than others wait.
func TestWaitForALockIsBounded(t *testing.T) {
	f := newFixture(t, server.Create(t))
	waiting, err := OpenExisting(t.Context(), Config{Address: f.address, lockTimeout: 100 * time.Millisecond, Now: f.now})
	require.NoError(t, err)
	defer waiting.Close()
	held, err := f.BeginCreation(t.Context(), f.creation(f.publisher))
	require.NoError(t, err)
	defer held.End(t.Context())
	_, err = waiting.BeginCreation(t.Context(), f.creation(f.publisher))
	require.ErrorIs(t, err, ErrInProgress)
	held.End(t.Context())
	free, err := waiting.BeginCreation(t.Context(), f.creation(f.publisher))
	require.NoError(t, err)
	free.End(t.Context())
}

// TestLimitsAreCountedBehindTheLocks has a database whose transactions read one state by default.
func TestLimitsAreCountedBehindTheLocks(t *testing.T) {
	f := newFixture(t, server.Create(t))
	var name, level string
	require.NoError(t, f.db.QueryRowContext(t.Context(), `SELECT current_database()`).Scan(&name))
	_, err := f.db.ExecContext(t.Context(), `ALTER DATABASE "`+name+`" SET default_transaction_isolation = 'repeatable read'`)
	require.NoError(t, err)
	again := f.open(t, Limits{})
	require.NoError(t, again.transact(t.Context(), func(tx *transaction) error {
		return tx.each(t.Context(), func(scan scan) error { return scan(&level) }, `SHOW transaction_isolation`)
	}))
	require.Equal(t, "read committed", level)
}

// TestDeactivatedStrategyBeginsNoNegotiation deactivates a strategy while a creation waits for the publisher's lock.
func TestDeactivatedStrategyBeginsNoNegotiation(t *testing.T) {
	f := newFixture(t, server.Create(t))
	created := make(chan error, 1)
	require.NoError(t, f.transact(t.Context(), func(tx *transaction) error {
		require.NoError(t, tx.each(t.Context(), func(scan) error { return nil },
			`SELECT id FROM publishers WHERE id = $1 FOR NO KEY UPDATE`, f.publisher.ID))
		go func() {
			u, err := f.BeginCreation(t.Context(), f.creation(f.publisher))
			if err == nil {
				u.End(t.Context())
			}
			created <- err
		}()
		require.Eventually(t, func() bool {
			var waiting int
			err := f.db.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity
				WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&waiting)
			return err == nil && waiting == 1
		}, 30*time.Second, 10*time.Millisecond)
		return tx.each(t.Context(), func(scan) error { return nil },
			`UPDATE negotiation_strategies SET is_active = FALSE WHERE id = $1`, f.strategy.ID)
	}))
	require.ErrorIs(t, <-created, ErrNoStrategy)
}

// TestLostCommitIsUnknown loses the connection during the commit.
func TestLostCommitIsUnknown(t *testing.T) {
	f := newFixture(t, server.Create(t))
	err := f.transact(t.Context(), func(tx *transaction) error {
		tx.writes = append(added[:0:0], func(ctx context.Context, q queries.Querier) error {
			return tx.session.(*postgresSession).connection.Conn().PgConn().Conn().Close()
		})
		return f.rename(t.Context(), tx, "lost")
	})
	require.ErrorIs(t, err, ErrOutcomeUnknown)
	f.requireName(t, f.publisher.Name)
}
