// Package postgres is a journal in a PostgreSQL database, which several processes can use at once:
//
//	store, err := postgres.Open(ctx, "postgres://agent@db.internal/agents")
//	...
//	defer store.Close()
//	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint, Journal: store})
//
// Open creates the table haggle_journal in the first schema of the search path: see [journal.Database].
//
// An entry is as durable as a commit of the server. Open refuses a server with synchronous_commit = off.
// After a failover to an asynchronous standby, entries may be missing.
package postgres

import (
	"context"
	_ "embed" // the table
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/haggle-protocol/haggle/sdk/internal/pgstore"
	"github.com/haggle-protocol/haggle/sdk/journal"
)

//go:embed schema.sql
var schema string

const (
	// uniqueViolation and undefinedColumn are error codes of PostgreSQL.
	uniqueViolation = "23505"
	undefinedColumn = "42703"
	// tableLock is the advisory lock under which the table is created.
	tableLock = 0x6861_6767_6c65_0001
)

// Open opens the journal in a database, and creates its table if it is missing. The address is a URL or a
// connection string of libpq. No error quotes its password. It returns [journal.ErrVersion] for a table of
// another version.
func Open(ctx context.Context, address string) (*journal.Database, error) {
	return open(ctx, address, 0, true)
}

// checkVersion returns [journal.ErrVersion] if the table lacks a column.
func checkVersion(ctx context.Context, transaction pgx.Tx) error {
	_, err := transaction.Exec(ctx, "SELECT authorized FROM haggle_journal LIMIT 0")
	if hasCode(err, undefinedColumn) {
		return fmt.Errorf("%w: %w: %s", journal.ErrVersion, err,
			"let that version find the outcomes of its transactions, then use a new database")
	}
	return err
}

func hasCode(err error, code string) bool {
	var refused *pgconn.PgError
	return errors.As(err, &refused) && refused.Code == code
}

func open(ctx context.Context, address string, lease time.Duration, renew bool) (*journal.Database, error) {
	database, err := pgstore.Open(ctx, pgstore.Config{
		Address: address, Prefix: "journal: ", Content: "entries",
		Lock: tableLock, Table: "haggle_journal", Schema: schema, Prepare: checkVersion,
	})
	if err != nil {
		return nil, err
	}
	return journal.NewDatabase(journal.DatabaseConfig{
		DB: stdlib.OpenDBFromPool(database.Pool), Closer: database, Name: database.Name,
		Lease: lease, NoRenewal: !renew,
		Now:         "(extract(epoch FROM clock_timestamp()) * 1000)::bigint",
		Owners:      "SELECT jsonb_array_elements_text($1::text::jsonb)",
		NextNumber:  "excluded.number",
		IsDuplicate: func(err error) bool { return hasCode(err, uniqueViolation) },
	}), nil
}
