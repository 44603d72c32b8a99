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

// text returns a statement without its name, as the dialect executes it. SQLite has no type of UUIDs. It
// needs no row locks, because a transaction that writes locks the whole file: the line of a statement that
// begins with FOR is the clause that locks.
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

// sqlAdapter executes statements with database/sql, in or outside of a transaction. It has the interface of
// pgx, for which sqlc generates the query functions.
type sqlAdapter struct {
	executor
	dialect Dialect
}

// executor is a [sql.DB] or a [sql.Tx].
type executor interface {
	ExecContext(ctx context.Context, statement string, arguments ...any) (sql.Result, error)
	QueryContext(ctx context.Context, statement string, arguments ...any) (*sql.Rows, error)
}

// Exec implements [queries.DBTX].
func (a sqlAdapter) Exec(ctx context.Context, statement string, arguments ...any) (pgconn.CommandTag, error) {
	result, err := a.ExecContext(ctx, a.dialect.text(statement), arguments...)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	changed, err := result.RowsAffected()
	return pgconn.NewCommandTag("CHANGE " + strconv.FormatInt(changed, 10)), err
}

// Query implements [queries.DBTX].
func (a sqlAdapter) Query(ctx context.Context, statement string, arguments ...any) (pgx.Rows, error) {
	rows, err := a.QueryContext(ctx, a.dialect.text(statement), arguments...)
	if err != nil {
		return nil, err
	}
	// The end of the context closes the rows. Their names are read before, so that Scan returns its error.
	names, err := rows.Columns()
	if err != nil {
		return nil, errors.Join(err, rows.Close())
	}
	fields := make([]pgconn.FieldDescription, len(names))
	for i, name := range names {
		fields[i].Name = name
	}
	return &sqlRows{Rows: rows, fields: fields}, nil
}

// QueryRow implements [queries.DBTX].
func (a sqlAdapter) QueryRow(ctx context.Context, statement string, arguments ...any) pgx.Row {
	found, err := a.Query(ctx, statement, arguments...)
	return singleRow{found, err}
}

// sqlRows has the interface of pgx for the rows of database/sql.
type sqlRows struct {
	*sql.Rows
	fields []pgconn.FieldDescription
	closed error
}

// Close implements [pgx.Rows]. Err has its error.
func (r *sqlRows) Close() { r.closed = cmp.Or(r.closed, r.Rows.Close()) }

// Err implements [pgx.Rows].
func (r *sqlRows) Err() error { return cmp.Or(r.Rows.Err(), r.closed) }

// Scan implements [pgx.Rows]. database/sql has no [pgx.RowScanner], which pgx.CollectRows uses.
func (r *sqlRows) Scan(targets ...any) error {
	if len(targets) == 1 {
		if whole, is := targets[0].(pgx.RowScanner); is {
			return whole.ScanRow(r)
		}
	}
	return r.Rows.Scan(targets...)
}

// FieldDescriptions implements [pgx.Rows]. They have only names.
func (r *sqlRows) FieldDescriptions() []pgconn.FieldDescription { return r.fields }

var errNoValues = errors.New("gateway store: rows of database/sql are read with Scan")

// The store does not use the results of CommandTag, Values, RawValues, Conn and TypeMap.
func (r *sqlRows) CommandTag() pgconn.CommandTag { return pgconn.CommandTag{} }
func (r *sqlRows) Values() ([]any, error)        { return nil, errNoValues }
func (r *sqlRows) RawValues() [][]byte           { return nil }
func (r *sqlRows) Conn() *pgx.Conn               { return nil }
func (r *sqlRows) TypeMap() *pgtype.Map          { return nil }

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
