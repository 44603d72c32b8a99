package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
)

// text returns a statement without its name, as the dialect executes it. SQLite has neither row locks, which
// are the last line of a statement, nor a type of UUIDs.
func (d Dialect) text(statement string) string {
	if strings.HasPrefix(statement, "-- name: ") {
		_, statement, _ = strings.Cut(statement, "\n")
	}
	if d == SQLite {
		statement, _, _ = strings.Cut(statement, "\nFOR ")
		statement = strings.ReplaceAll(statement, " AS UUID)", " AS TEXT)")
	}
	return statement
}

// standard executes statements with database/sql, in or outside of a transaction. It makes both drivers return
// the rows of pgx, for which the statements are generated.
type standard struct {
	executor
	dialect Dialect
}

// executor is a [sql.DB] or a [sql.Tx].
type executor interface {
	ExecContext(ctx context.Context, statement string, arguments ...any) (sql.Result, error)
	QueryContext(ctx context.Context, statement string, arguments ...any) (*sql.Rows, error)
}

// Exec implements [queries.DBTX].
func (s standard) Exec(ctx context.Context, statement string, arguments ...any) (pgconn.CommandTag, error) {
	result, err := s.ExecContext(ctx, s.dialect.text(statement), arguments...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	changed, err := result.RowsAffected()
	return pgconn.NewCommandTag("CHANGE " + strconv.FormatInt(changed, 10)), err
}

// Query implements [queries.DBTX].
func (s standard) Query(ctx context.Context, statement string, arguments ...any) (pgx.Rows, error) {
	rows, err := s.QueryContext(ctx, s.dialect.text(statement), arguments...)
	if err != nil {
		return nil, err
	}
	// The names are read before the context can end: it closes the rows, and Scan returns its error then.
	names, err := rows.Columns()
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	fields := make([]pgconn.FieldDescription, len(names))
	for i, name := range names {
		fields[i].Name = name
	}
	return &standardRows{Rows: rows, fields: fields}, nil
}

// QueryRow implements [queries.DBTX].
func (s standard) QueryRow(ctx context.Context, statement string, arguments ...any) pgx.Row {
	found, err := s.Query(ctx, statement, arguments...)
	return singleRow{found, err}
}

// standardRows are the rows of database/sql as those of pgx.
type standardRows struct {
	*sql.Rows
	fields []pgconn.FieldDescription
	closed error
}

// Close implements [pgx.Rows]. Err has its error.
func (r *standardRows) Close() { r.closed = cmp.Or(r.closed, r.Rows.Close()) }

// Err implements [pgx.Rows].
func (r *standardRows) Err() error { return cmp.Or(r.Rows.Err(), r.closed) }

// Scan implements [pgx.Rows].
func (r *standardRows) Scan(targets ...any) error {
	if len(targets) == 1 {
		if whole, is := targets[0].(pgx.RowScanner); is {
			return whole.ScanRow(r)
		}
	}
	return r.Rows.Scan(targets...)
}

// FieldDescriptions implements [pgx.Rows]. They have only names.
func (r *standardRows) FieldDescriptions() []pgconn.FieldDescription { return r.fields }

var errUnsupported = errors.New("gateway store: not supported here")

// CommandTag, Values, RawValues, Conn and TypeMap are of no use for generated statements.
func (r *standardRows) CommandTag() pgconn.CommandTag { return pgconn.CommandTag{} }
func (r *standardRows) Values() ([]any, error)        { return nil, errUnsupported }
func (r *standardRows) RawValues() [][]byte           { return nil }
func (r *standardRows) Conn() *pgx.Conn               { return nil }
func (r *standardRows) TypeMap() *pgtype.Map          { return nil }

// singleRow is the only row of a statement.
type singleRow struct {
	found pgx.Rows
	err   error
}

// Scan reads the row and closes it. It returns [sql.ErrNoRows] if there is none.
func (r singleRow) Scan(targets ...any) error {
	if r.err != nil {
		return r.err
	}
	var err error
	switch {
	case r.found.Next():
		err = r.found.Scan(targets...)
	case r.found.Err() == nil:
		err = sql.ErrNoRows
	}
	r.found.Close()
	return cmp.Or(err, r.found.Err())
}
