package store

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// rename changes the publisher's name in a transaction.
func (f *fixture) rename(ctx context.Context, t *transaction, name string) error {
	return t.each(ctx, nil, `UPDATE publishers SET name = $2 WHERE id = $1`, f.publisher.ID, name)
}

// requireName requires the publisher's name, and that no transaction locks the row. The server releases a
// lost connection's locks a moment later.
func (f *fixture) requireName(t *testing.T, name string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	p, err := f.Publisher(t.Context(), f.publisher.ID)
	require.NoError(t, err)
	require.Equal(t, name, p.Name)
	require.NoError(t, f.transact(ctx, func(tx *transaction) error {
		return tx.lockPublisher(ctx, f.publisher.ID)
	}))
}

// added is a write that succeeds, failing fails when executed.
var (
	added = writesOf(queries.Querier.AddIdempotencyKey, queries.AddIdempotencyKeyParams{
		Owner: "o", CreatedAt: queries.NullTime(start),
	})
	failing = writesOf(queries.Querier.AddBundle, queries.AddBundleParams{ID: "00000000-0000-7000-8000-000000000000"})
)

func TestTransactionIsAtomic(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		name := f.publisher.Name
		for title, act := range map[string]func(context.Context, context.CancelFunc, *transaction) error{
			"the function returns an error": func(ctx context.Context, _ context.CancelFunc, tx *transaction) error {
				require.NoError(t, f.rename(ctx, tx, "lost"))
				tx.writes = added
				return errors.New("no decision")
			},
			"the only write fails": func(_ context.Context, _ context.CancelFunc, tx *transaction) error {
				tx.writes = failing
				return nil
			},
			"the last write fails": func(ctx context.Context, _ context.CancelFunc, tx *transaction) error {
				require.NoError(t, f.rename(ctx, tx, "lost"))
				tx.writes = append(added[:1:1], failing...)
				return nil
			},
			"the request ends before COMMIT": func(ctx context.Context, cancel context.CancelFunc, tx *transaction) error {
				require.NoError(t, f.rename(ctx, tx, "lost"))
				tx.writes = added
				cancel()
				return nil
			},
		} {
			ctx, cancel := context.WithCancel(t.Context())
			require.Error(t, f.transact(ctx, func(tx *transaction) error { return act(ctx, cancel, tx) }), title)
			cancel()
			f.requireName(t, name)
			require.Zero(t, count(t, f.db, `SELECT COUNT(*) FROM idempotency_keys`), title)
		}
		require.NoError(t, f.transact(t.Context(), func(tx *transaction) error { return nil }), "no statement")
		require.NoError(t, f.transact(t.Context(), func(tx *transaction) error {
			tx.writes = added
			return f.rename(t.Context(), tx, "kept")
		}))
		f.requireName(t, "kept")
		require.EqualValues(t, 1, count(t, f.db, `SELECT COUNT(*) FROM idempotency_keys`))
	})
}

// A handler that panics is recovered by net/http, and must not keep SQLite's only connection.
func TestPanicEndsTheTransaction(t *testing.T) {
	onBoth(t, func(t *testing.T, f *fixture) {
		require.Panics(t, func() {
			_ = f.transact(t.Context(), func(tx *transaction) error {
				require.NoError(t, f.rename(t.Context(), tx, "lost"))
				panic("in a decision")
			})
		})
		f.requireName(t, f.publisher.Name)
	})
}

func TestForgottenErrorIsNoCommit(t *testing.T) {
	f := newFixture(t, server.Create(t))
	fail := func(tx *transaction) {
		require.Error(t, tx.each(t.Context(), nil, `UPDATE publishers SET hostname = NULL`))
	}
	for title, act := range map[string]func(*transaction) error{
		"before COMMIT": func(tx *transaction) error {
			require.NoError(t, f.rename(t.Context(), tx, "lost"))
			fail(tx)
			return nil
		},
		"before the writes": func(tx *transaction) error {
			require.NoError(t, f.rename(t.Context(), tx, "lost"))
			fail(tx)
			tx.writes = added
			return nil
		},
		"of the first statement": func(tx *transaction) error {
			require.Error(t, tx.each(t.Context(), nil, `UPDATE no_such_table SET name = 'lost'`))
			return f.rename(t.Context(), tx, "lost")
		},
	} {
		require.Error(t, f.transact(t.Context(), act), title)
		f.requireName(t, f.publisher.Name)
	}
}

// The request would not know whether the transaction is committed.
func TestCommitIsNotCancelledWithTheRequest(t *testing.T) {
	f := newFixture(t, server.Create(t))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	require.NoError(t, f.transact(ctx, func(tx *transaction) error {
		tx.writes = append(added[:1:1], func(context.Context, queries.Querier) error {
			cancel()
			return nil
		})
		return f.rename(ctx, tx, "kept")
	}))
	f.requireName(t, "kept")
}

func TestConnectionOfAnAbandonedListIsUsedAgain(t *testing.T) {
	s, err := Open(t.Context(), Config{Address: server.Create(t), Connections: 1})
	require.NoError(t, err)
	defer s.Close()
	process := func() (id int64) {
		require.NoError(t, s.number(t.Context(), &id, `SELECT pg_backend_pid()`))
		return id
	}
	before, enough := process(), errors.New("enough")
	require.ErrorIs(t, s.snapshot(t.Context(), func(on statements) error {
		return on.each(t.Context(), func(scan) error { return enough }, `SELECT generate_series(1, 100000)`)
	}), enough)
	require.Equal(t, before, process())
}

// Requests that hold a connection while waiting for another can deadlock.
func TestFinishReleasesTheConnection(t *testing.T) {
	f := newFixture(t, server.Create(t))
	n := f.negotiate(t)
	s, err := OpenExisting(t.Context(), Config{Address: f.address, Connections: 1, Now: f.now})
	require.NoError(t, err)
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, failed := range []error{errors.New("no decision"), nil} {
		u, err := s.BeginRound(ctx, RoundRequest{
			Negotiations: []string{n.ID}, Key: &Key{"acme", "k", "body"},
		})
		require.NoError(t, err)
		defer u.End(ctx)
		outcome, err := counter(u.States)
		require.NoError(t, err)
		_, err = u.Finish(ctx, outcome, failed)
		require.Equal(t, failed, err)
		_, err = s.Negotiation(ctx, n.ID)
		require.NoError(t, err)
	}
}

func TestLostConnectionIsReplaced(t *testing.T) {
	f := newFixture(t, server.Create(t))
	require.Error(t, f.transact(t.Context(), func(tx *transaction) error {
		require.NoError(t, f.rename(t.Context(), tx, "lost"))
		return tx.each(t.Context(), func(scan) error { return nil }, `SELECT pg_terminate_backend(pg_backend_pid())`)
	}))
	f.requireName(t, f.publisher.Name)
}
