// Package postgres opens a state database in PostgreSQL, which processes on several machines can use at once:
//
//	state, err := postgres.Open(ctx, "postgres://agent@db.internal/agents")
//	...
//	defer state.Close()
//
// The names of its tables begin with haggle_; they are in the first schema of the search path. A write is as
// durable as a commit of the server. After a failover to an asynchronous standby, writes may be missing.
package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/store/database"
)

// defaultConnections is the largest number of open connections if a schema sets none.
const defaultConnections = 8

// Open opens a state database and creates or migrates its tables. The address is a URL or a connection string of
// libpq; no error quotes its password. Open returns [store.ErrAddress] for another address, [store.ErrVersion]
// for the tables of a newer version, and an error for a server with synchronous_commit = off.
func Open(ctx context.Context, address string) (*store.Store, error) {
	opened, err := OpenDatabase(ctx, address, store.Schema())
	if err != nil {
		return nil, err
	}
	return store.New(opened), nil
}

// OpenDatabase opens a database with the tables of another program, as [Open] does, and creates or migrates them.
// The errors are those of package database.
func OpenDatabase(ctx context.Context, address string, tables database.Schema) (*database.Database, error) {
	parsed, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, database.ErrAddress // the error of pgx can quote the address
	}
	name := fmt.Sprintf("%s on %s:%d", parsed.Database, parsed.Host, parsed.Port)
	if strings.HasPrefix(parsed.Host, "/") {
		name = fmt.Sprintf("%s on the socket in %s", parsed.Database, parsed.Host)
	}
	db := stdlib.OpenDB(*parsed)
	connections := cmp.Or(tables.Connections, defaultConnections)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	opened := &database.Database{Schema: tables, DB: db, Reader: db, Name: name, Postgres: true, Release: db.Close}
	var commit string
	err = db.QueryRowContext(ctx, "SHOW synchronous_commit").Scan(&commit)
	if err == nil && commit == "off" {
		err = errors.New("synchronous_commit is off: set it to on, or a crash can lose writes")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s %s: %w", tables.Kind, name, err), db.Close())
	}
	if err := opened.Migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return opened, nil
}
