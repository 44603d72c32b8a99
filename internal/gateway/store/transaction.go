package store

import "context"

// transaction is a transaction that writes.
type transaction struct {
	session
	store *Store
	// by names the caller in audit entries.
	by string
	// writes are executed with the commit.
	writes []write
}

type actorKey struct{}

// WithActor returns a context for a caller's changes: audit entries name the caller ([audit.Entry.By]).
func WithActor(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, actorKey{}, name)
}

// begin begins a transaction. The caller calls end.
func (s *Store) begin(ctx context.Context) (*transaction, error) {
	on, err := s.database.begin(ctx)
	if err != nil {
		return nil, classify(err)
	}
	by, _ := ctx.Value(actorKey{}).(string)
	return &transaction{session: on, store: s, by: by}, nil
}

// finish commits the transaction with the added writes.
func (t *transaction) finish(ctx context.Context) error { return classify(t.commit(ctx, t.writes...)) }

// transact runs act in one transaction. If act returns nil, it commits the transaction with the writes
// that act added.
func (s *Store) transact(ctx context.Context, act func(*transaction) error) error {
	t, err := s.begin(ctx)
	if err != nil {
		return err
	}
	defer t.end(ctx)
	if err := act(t); err != nil {
		return classify(err)
	}
	return t.finish(ctx)
}

// snapshot runs act in a transaction that reads a consistent state of the database.
func (s *Store) snapshot(ctx context.Context, act func(statements) error) error {
	on, err := s.database.snapshot(ctx)
	if err != nil {
		return classify(err)
	}
	defer on.end(ctx)
	return classify(act(on))
}
