package store

import (
	"context"
	"database/sql"

	"github.com/jackc/pgx/v5"

	"github.com/haggle-protocol/haggle/internal/gateway/store/queries"
)

// database is implemented by [postgres] with pgx, and by [sqliteFile] with database/sql.
type database interface {
	// reader and writer execute statements outside of transactions.
	reader() statements
	writer() statements
	// begin begins a transaction that writes.
	begin(context.Context) (session, error)
	// snapshot begins a transaction that reads a consistent state of the database.
	snapshot(context.Context) (session, error)
	close() error
}

// statements executes statements inside or outside a transaction.
type statements interface {
	queries.Querier
	// each executes a statement that this package composes. It calls row for each row, with a function that
	// reads the columns.
	each(ctx context.Context, row func(scan) error, statement string, arguments ...any) error
}

// scan reads a row's columns into targets.
type scan = func(targets ...any) error

// session is a transaction on a connection.
type session interface {
	statements
	// commit executes the writes in their order, and commits. After [ErrOutcomeUnknown] they may
	// have been executed; after any other error nothing has changed.
	commit(ctx context.Context, writes ...write) error
	// handle returns the driver's transaction.
	handle() Tx
	// end rolls back uncommitted changes, and releases the connection. Call it after every transaction.
	end(ctx context.Context)
}

// Tx is an open transaction of the store, for a library that writes additional rows in it. The field for the
// store's dialect is set. The store commits it or rolls it back.
type Tx struct {
	Postgres pgx.Tx
	SQLite   *sql.Tx
}

// write executes a statement that changes rows and returns none.
type write func(context.Context, queries.Querier) error

// writesOf returns the writes of a query function, one per row.
func writesOf[P any](statement func(queries.Querier, context.Context, P) error, rows ...P) (writes []write) {
	for _, row := range rows {
		writes = append(writes, func(ctx context.Context, on queries.Querier) error {
			return statement(on, ctx, row)
		})
	}
	return writes
}
