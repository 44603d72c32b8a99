package store

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// transaction is a transaction that writes.
type transaction struct {
	session
	store *Store
	// queries are the query functions in this transaction.
	queries *queries.Queries
	// by names the caller in audit entries.
	by string
	// finished reports that last was called, and lastErr is its result.
	finished bool
	lastErr  error
}

type actorKey struct{}

// WithActor returns a context for the changes of a caller: their audit entries name it ([audit.Entry.By]).
func WithActor(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, actorKey{}, name)
}

// transact runs act in one transaction and commits it if act returns nil.
func (s *Store) transact(ctx context.Context, act func(*transaction) error) error {
	if s.Dialect == Postgres {
		return classify(onConnection(ctx, s.writer, func(connection *pgx.Conn) error {
			return s.within(ctx, &pipelined{connection: connection}, act)
		}))
	}
	s.observed(begin)
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return classify(err)
	}
	return classify(s.within(ctx, s.newSession(tx), act))
}

func (s *Store) newSession(tx *sql.Tx) sqlSession {
	return sqlSession{sqlAdapter{tx, s.Dialect}, tx}
}

// within runs act on a session. If act returns nil and has not committed, within commits; after an error it
// rolls back.
func (s *Store) within(ctx context.Context, on session, act func(*transaction) error) error {
	by, _ := ctx.Value(actorKey{}).(string)
	t := &transaction{session: on, store: s, by: by}
	t.queries = queries.New(t)
	err := act(t)
	if err == nil {
		err = t.lastErr
	}
	if err == nil && !t.finished {
		s.observed(commit)
		err = on.commit(ctx)
	}
	if err != nil {
		return errors.Join(err, on.rollback(ctx))
	}
	return nil
}

// snapshot runs act in a transaction that reads one state of the database.
func (s *Store) snapshot(ctx context.Context, act func(sqlAdapter) error) error {
	options := &sql.TxOptions{ReadOnly: true}
	if s.Dialect == Postgres {
		options.Isolation = sql.LevelRepeatableRead
	}
	tx, err := s.reader.BeginTx(ctx, options)
	if err != nil {
		return classify(err)
	}
	reading := s.newSession(tx)
	return classify(errors.Join(act(reading.sqlAdapter), reading.rollback(ctx)))
}

func (s *Store) observed(statement string) {
	if s.observe != nil {
		s.observe(statement)
	}
}

// Exec implements [queries.DBTX].
func (t *transaction) Exec(ctx context.Context, statement string, arguments ...any) (pgconn.CommandTag, error) {
	t.store.observed(statement)
	return t.session.Exec(ctx, statement, arguments...)
}

// Query implements [queries.DBTX].
func (t *transaction) Query(ctx context.Context, statement string, arguments ...any) (pgx.Rows, error) {
	t.store.observed(statement)
	return t.session.Query(ctx, statement, arguments...)
}

// QueryRow implements [queries.DBTX].
func (t *transaction) QueryRow(ctx context.Context, statement string, arguments ...any) pgx.Row {
	t.store.observed(statement)
	return t.session.QueryRow(ctx, statement, arguments...)
}

// write is a statement that changes rows and returns none.
type write struct {
	statement string
	arguments []any
}

// all executes the writes. In PostgreSQL they are one statement and one round trip: all but the last become
// common table expressions. So none of them must depend on the rows of another one, except by a foreign key,
// which is checked at the end of the statement.
func (t *transaction) all(ctx context.Context, writes ...write) error {
	return t.execute(ctx, false, writes...)
}

// execute executes the writes. If commits is set, it commits with the last one.
func (t *transaction) execute(ctx context.Context, commits bool, writes ...write) error {
	if t.store.Dialect == Postgres {
		statement, arguments := joined(writes)
		writes = []write{{statement, arguments}}
	}
	for i, w := range writes {
		if commits && i == len(writes)-1 {
			t.store.observed(w.statement)
			t.finished = true
			t.lastErr = t.last(ctx, w.statement, w.arguments...)
			return t.lastErr
		}
		if _, err := t.Exec(ctx, w.statement, w.arguments...); err != nil {
			return err
		}
	}
	return nil
}

// joined returns the one statement of PostgreSQL that executes writes.
func joined(writes []write) (statement string, arguments []any) {
	var text strings.Builder
	for i, w := range writes {
		last := i == len(writes)-1
		switch {
		case i == 0 && !last:
			text.WriteString("WITH w0 AS (")
		case !last:
			text.WriteString(", w" + strconv.Itoa(i) + " AS (")
		case i > 0:
			text.WriteByte(' ')
		}
		shift(&text, w.statement, len(arguments))
		if !last {
			text.WriteByte(')')
		}
		arguments = append(arguments, w.arguments...)
	}
	return text.String(), arguments
}

// shift writes a statement whose parameters $1, $2, ... get higher numbers. A statement of a write has $ only
// in parameters. Each request shifts thousands of bytes, so this is no regular expression.
func shift(text *strings.Builder, statement string, by int) {
	for {
		before, after, found := strings.Cut(statement, "$")
		text.WriteString(before)
		if !found {
			return
		}
		digits, number := 0, by
		for digits < len(after) && '0' <= after[digits] && after[digits] <= '9' {
			digits++
		}
		if read, err := strconv.Atoi(after[:digits]); err == nil {
			number += read
		}
		text.WriteByte('$')
		text.WriteString(strconv.Itoa(number))
		statement = after[digits:]
	}
}

// writesOf returns the writes of a query function, one for each row, so that PostgreSQL can execute them as
// one statement.
func writesOf[P any](statement func(*queries.Queries, context.Context, P) error, rows ...P) []write {
	var r recorder
	run := queries.New(&r)
	for _, row := range rows {
		_ = statement(run, context.Background(), row) // a recorder returns no error
	}
	return r.writes
}

var errNoRows = errors.New("gateway store: a write returns no rows")

// recorder records writes instead of executing them.
type recorder struct{ writes []write }

func (r *recorder) Exec(_ context.Context, statement string, arguments ...any) (pgconn.CommandTag, error) {
	r.writes = append(r.writes, write{strings.TrimSpace(Postgres.text(statement)), arguments})
	return pgconn.CommandTag{}, nil
}

func (r *recorder) Query(context.Context, string, ...any) (pgx.Rows, error) {
	return nil, errNoRows
}

func (r *recorder) QueryRow(context.Context, string, ...any) pgx.Row {
	return singleRow{nil, errNoRows}
}
