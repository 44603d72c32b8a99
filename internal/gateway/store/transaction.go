package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// transaction is a transaction that writes.
type transaction struct {
	session
	store *Store
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
		return classify(s.writer.onConnection(ctx, func(connection *pgx.Conn) error {
			return s.within(ctx, &pipelined{connection: connection}, act)
		}))
	}
	s.observed(begin)
	tx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return classify(err)
	}
	return classify(s.within(ctx, standard{tx}, act))
}

// within runs act on a session. If act returns nil and has not committed, within commits; after an error it
// rolls back.
func (s *Store) within(ctx context.Context, on session, act func(*transaction) error) error {
	by, _ := ctx.Value(actorKey{}).(string)
	t := &transaction{session: on, store: s, by: by}
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
func (s *Store) snapshot(ctx context.Context, act func(querier) error) error {
	options := &sql.TxOptions{ReadOnly: true}
	if s.Dialect == Postgres {
		options.Isolation = sql.LevelRepeatableRead
	}
	tx, err := s.reader.BeginTx(ctx, options)
	if err != nil {
		return classify(err)
	}
	reading := standard{tx}
	return classify(errors.Join(act(reading), reading.rollback(ctx)))
}

func (s *Store) observed(statement string) {
	if s.observe != nil {
		s.observe(statement)
	}
}

func (t *transaction) row(ctx context.Context, statement string, arguments ...any) singleRow {
	t.store.observed(statement)
	found, err := t.query(ctx, statement, arguments...)
	return singleRow{found, err}
}

func (t *transaction) rows(ctx context.Context, statement string, arguments ...any) (resultRows, error) {
	t.store.observed(statement)
	return t.query(ctx, statement, arguments...)
}

// singleRow is the only row of a statement.
type singleRow struct {
	found resultRows
	err   error
}

// Scan reads the row and closes it. It returns [sql.ErrNoRows] if there is none.
func (r singleRow) Scan(targets ...any) (err error) {
	if r.err != nil {
		return r.err
	}
	defer func() { err = cmp.Or(err, r.found.Close()) }()
	if r.found.Next() {
		return r.found.Scan(targets...)
	}
	return cmp.Or(r.found.Err(), sql.ErrNoRows)
}

// lock appends the clause that locks rows. A SQLite transaction that writes has locked the whole file.
func (t *transaction) lock(statement, clause string) string {
	if t.store.Dialect == Postgres {
		return statement + " " + clause
	}
	return statement
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
		t.store.observed(w.statement)
		if commits && i == len(writes)-1 {
			t.finished = true
			t.lastErr = t.last(ctx, w.statement, w.arguments...)
			return t.lastErr
		}
		if _, err := t.ExecContext(ctx, w.statement, w.arguments...); err != nil {
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

// insert returns the statement that inserts rows of the same length.
func insert(table, columns string, rows ...[]any) write {
	var text strings.Builder
	text.WriteString("INSERT INTO " + table + " (" + columns + ") VALUES ")
	var arguments []any
	for i, row := range rows {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString("(")
		for j := range row {
			if j > 0 {
				text.WriteString(", ")
			}
			text.WriteString("$" + strconv.Itoa(len(arguments)+j+1))
		}
		text.WriteString(")")
		arguments = append(arguments, row...)
	}
	return write{text.String(), arguments}
}

// micro returns a time as the database has it; nil for the zero time.
func micro(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}

// scanTime scans a time in microseconds. NULL is the zero time.
type scanTime struct{ into *time.Time }

func (s scanTime) Scan(value any) error {
	var number sql.NullInt64
	if err := number.Scan(value); err != nil {
		return err
	}
	*s.into = time.Time{}
	if number.Valid {
		*s.into = time.UnixMicro(number.Int64).UTC()
	}
	return nil
}

// orNull returns nil for an empty text or document.
func orNull[T ~string | ~[]byte](value T) any {
	if len(value) == 0 {
		return nil
	}
	return string(value)
}

// scanText scans a text or a document. NULL is empty.
type scanText[T ~string | ~[]byte] struct{ into *T }

func (s scanText[T]) Scan(value any) error {
	var text sql.NullString
	if err := text.Scan(value); err != nil {
		return err
	}
	*s.into = T(text.String)
	if !text.Valid {
		var empty T
		*s.into = empty
	}
	return nil
}

func text[T ~string | ~[]byte](into *T) scanText[T] { return scanText[T]{into} }
