package store

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// rename changes the publisher's name in a transaction.
func (f *fixture) rename(ctx context.Context, t *transaction, name string) error {
	return t.all(ctx, write{`UPDATE publishers SET name = $2 WHERE id = $1`, []any{f.publisher.ID, name}})
}

// requireName requires the name of the publisher, and that no transaction holds its row. The server releases
// the locks of a lost connection a moment later.
func (f *fixture) requireName(t *testing.T, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	p, err := f.Publisher(t.Context(), f.publisher.ID)
	require.NoError(t, err)
	require.Equal(t, name, p.Name)
	require.NoError(t, f.transact(ctx, func(tx *transaction) error {
		return tx.QueryRow(ctx, "SELECT name FROM publishers WHERE id = $1\nFOR UPDATE", f.publisher.ID).Scan(&name)
	}))
}

var (
	// invalid is a statement that fails when it is executed.
	invalid = write{`UPDATE publishers SET hostname = $1`, []any{nil}}
	// unknown is one that the server refuses before it executes anything.
	unknown = write{`UPDATE no_such_table SET name = 'lost'`, nil}
)

func TestTransactionIsAtomic(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		name := f.publisher.Name
		for title, act := range map[string]func(context.Context, context.CancelFunc, *transaction) error{
			"the only statement fails": func(ctx context.Context, _ context.CancelFunc, tx *transaction) error {
				return tx.execute(ctx, true, invalid)
			},
			"the last statement fails": func(ctx context.Context, _ context.CancelFunc, tx *transaction) error {
				require.NoError(t, f.rename(ctx, tx, "lost"))
				return tx.execute(ctx, true, invalid)
			},
			"the request ends before COMMIT": func(
				ctx context.Context, cancel context.CancelFunc, tx *transaction,
			) error {
				require.NoError(t, f.rename(ctx, tx, "lost"))
				cancel()
				return nil
			},
			"the request ends before the last statement": func(
				ctx context.Context, cancel context.CancelFunc, tx *transaction,
			) error {
				require.NoError(t, f.rename(ctx, tx, "lost"))
				cancel()
				return tx.execute(ctx, true, write{`UPDATE publishers SET name = 'lost'`, nil})
			},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			require.Error(t, f.transact(ctx, func(tx *transaction) error { return act(ctx, cancel, tx) }), title)
			cancel()
			f.requireName(t, name)
		}
		require.NoError(t, f.transact(t.Context(), func(tx *transaction) error { return nil }), "no statement")
		require.NoError(t, f.transact(t.Context(), func(tx *transaction) error {
			return f.rename(t.Context(), tx, "kept")
		}))
		f.requireName(t, "kept")
	})
}

func TestNothingFollowsTheCommit(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		err := f.transact(t.Context(), func(tx *transaction) error {
			last := write{`UPDATE publishers SET name = 'kept' WHERE id = $1`, []any{f.publisher.ID}}
			require.NoError(t, tx.execute(t.Context(), true, last))
			return f.rename(t.Context(), tx, "later")
		})
		require.ErrorIs(t, err, sql.ErrTxDone)
		f.requireName(t, "kept")
	})
}

func TestForgottenErrorIsNoCommit(t *testing.T) {
	f := newFixture(t, server.Create(t))
	for title, act := range map[string]func(*transaction) error{
		"before COMMIT": func(tx *transaction) error {
			require.NoError(t, f.rename(t.Context(), tx, "lost"))
			require.Error(t, tx.all(t.Context(), invalid))
			return nil
		},
		"before the last statement": func(tx *transaction) error {
			require.NoError(t, f.rename(t.Context(), tx, "lost"))
			require.Error(t, tx.all(t.Context(), invalid))
			return tx.execute(t.Context(), true, write{`UPDATE publishers SET name = 'lost'`, nil})
		},
		"of the first statement": func(tx *transaction) error {
			require.Error(t, tx.all(t.Context(), unknown))
			return f.rename(t.Context(), tx, "lost")
		},
		"of the only statement": func(tx *transaction) error {
			require.Error(t, tx.all(t.Context(), unknown))
			return nil
		},
	} {
		require.Error(t, f.transact(t.Context(), act), title)
		f.requireName(t, f.publisher.Name)
	}
}

func TestForgottenErrorOfTheLastStatementIsReturned(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		err := f.transact(t.Context(), func(tx *transaction) error {
			require.NoError(t, f.rename(t.Context(), tx, "lost"))
			require.Error(t, tx.execute(t.Context(), true, invalid))
			return nil
		})
		require.Error(t, err)
		f.requireName(t, f.publisher.Name)
	})
}

func TestConnectionWithOpenRowsIsNotUsedAgain(t *testing.T) {
	f := newFixture(t, server.Create(t))
	f.writer.SetMaxOpenConns(1)
	err := f.transact(t.Context(), func(tx *transaction) error {
		_, err := tx.Query(t.Context(), `SELECT name FROM publishers, generate_series(1, 100000)`)
		return err
	})
	require.ErrorIs(t, err, errUnfinished)
	f.requireName(t, f.publisher.Name)
}

func TestLostConnectionIsReplaced(t *testing.T) {
	f := newFixture(t, server.Create(t))
	err := f.transact(t.Context(), func(tx *transaction) error {
		require.NoError(t, f.rename(t.Context(), tx, "lost"))
		var ended bool
		return tx.QueryRow(t.Context(), `SELECT pg_terminate_backend(pg_backend_pid())`).Scan(&ended)
	})
	require.Error(t, err)
	f.requireName(t, f.publisher.Name)
}
