// Package postgres opens a state database in PostgreSQL. Processes on several machines can use it at once:
//
//	state, err := postgres.Open(ctx, "postgres://agent@db.internal/agents")
//	...
//	defer state.Close()
//
// Table names begin with haggle_. The tables are in the first schema of the search path. A write is as
// durable as a server commit. If an asynchronous standby takes over, writes may be missing.
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

// Open opens a state database and creates or migrates the tables. The address is a URL or a libpq connection
// string; no error quotes the password. Open returns [store.ErrAddress] for another address,
// [store.ErrVersion] if the tables are from a newer version, and an error if the server sets
// synchronous_commit = off.
func Open(ctx context.Context, address string) (*store.Store, error) {
	opened, err := OpenDatabase(ctx, address, store.Schema())
	if err != nil {
		return nil, err
	}
	return store.New(opened), nil
}

// OpenDatabase opens a database with another program's tables, as [Open] does, and creates or migrates the
// tables. It returns package database's errors.
func OpenDatabase(ctx context.Context, address string, tables database.Schema) (*database.Database, error) {
	opened, err := Connect(address, tables)
	if err != nil {
		return nil, err
	}
	if err := Prepare(ctx, opened); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// Prepare creates or migrates the tables of a program with its own connections; [OpenDatabase] calls it. It returns an
// error if the server sets synchronous_commit = off, and package database's errors.
func Prepare(ctx context.Context, opened *database.Database) error {
	var commit string
	if err := opened.DB.QueryRowContext(ctx, "SHOW synchronous_commit").Scan(&commit); err != nil {
		return opened.Failed(ctx, err)
	}
	if commit == "off" {
		return opened.Failed(ctx, errors.New("synchronous_commit is off: set it to on, or a crash can lose writes"))
	}
	return opened.Migrate(ctx)
}

// Connect returns a database with the tables of another program. Unlike [OpenDatabase] it sends no statement: it checks
// neither the server nor the tables, and does not migrate these. It returns [database.ErrAddress] as [Open] does.
func Connect(address string, tables database.Schema) (*database.Database, error) {
	parsed, err := pgx.ParseConfig(address)
	if err != nil {
		return nil, database.ErrAddress // the error of pgx can quote the address
	}
	for parameter := range parsed.RuntimeParams {
		if strings.HasPrefix(parameter, "pool_") {
			delete(parsed.RuntimeParams, parameter) // pgxpool's; a server rejects it
		}
	}
	name := fmt.Sprintf("%s on %s:%d", parsed.Database, parsed.Host, parsed.Port)
	if strings.HasPrefix(parsed.Host, "/") {
		name = fmt.Sprintf("%s on the socket in %s", parsed.Database, parsed.Host)
	}
	db := stdlib.OpenDB(*parsed)
	connections := cmp.Or(tables.Connections, defaultConnections)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return &database.Database{
		Schema: tables, DB: db, Reader: db, Name: name, Postgres: true, Release: db.Close,
	}, nil
}
