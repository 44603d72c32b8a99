// Package database is a SQL database with migrated tables, on SQLite or PostgreSQL. Package sqlite opens a
// file, package postgres a database on a server:
//
//	opened, err := sqlite.OpenFile(ctx, "/var/lib/agent/deals.db", database.Schema{
//		Kind: "deals", VersionTable: "deals_version", Migrations: func(bool) fs.FS { return migrations },
//	})
//	...
//	defer opened.Close()
//	tx, err := opened.Begin(ctx)
//
// Programs use the same statements for both engines, written in PostgreSQL's dialect and valid in SQLite.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"sync"

	"github.com/pressly/goose/v3"
)

var (
	// ErrDamaged: the database contains data not written by this program.
	ErrDamaged = errors.New("haggle: database damaged")
	// ErrVersion: the database belongs to another version of the program or to another program. It is not
	// changed.
	ErrVersion = errors.New("haggle: database of another version")
	// ErrHardLinks: the database file has several names. Processes that open it by different names do not
	// see each other's writes.
	ErrHardLinks = errors.New("haggle: database has several hard links")
	// ErrReplaced: the database file, or the write-ahead log, was deleted or replaced while open.
	ErrReplaced = errors.New("haggle: database deleted or replaced")
	// ErrAddress: a PostgreSQL database address is neither a URL nor a libpq connection string.
	ErrAddress = errors.New("haggle: database address not valid: use postgres://USER@HOST:PORT/DATABASE")
)

// Schema describes a program's tables.
type Schema struct {
	// Kind names the database in errors, such as "state database".
	Kind string
	// VersionTable is the table containing the schema version. If a SQLite file contains tables, but not this
	// table, it belongs to another program.
	VersionTable string
	// Migrations returns the goose migrations for PostgreSQL or for SQLite: files ending in .sql, in the root. If nil,
	// GoMigrations returns all of them.
	Migrations func(postgres bool) fs.FS
	// GoMigrations returns the migrations that are functions, with other versions than the files'. If nil, there are
	// none.
	GoMigrations func(postgres bool) ([]*goose.Migration, error)
	// Unchecked reports whether opening a SQLite file does not read all of it in search of damage: for data that
	// can be made again, and for files that grow without limit.
	Unchecked bool
	// Readers is the number of further read-only connections to a SQLite file. They never wait for a
	// transaction that writes. If zero, readers share the connection of writers.
	Readers int
	// Connections is the largest number of connections to a PostgreSQL server. If zero, 8 is used.
	Connections int
}

// Database is an open database. Packages sqlite and postgres fill it in.
type Database struct {
	Schema Schema
	// DB begins transactions that write. With SQLite it uses a single connection, and transactions begin by
	// locking the file.
	DB *sql.DB
	// Reader executes statements that only read.
	Reader *sql.DB
	// Name identifies the database in errors. It contains no password.
	Name string
	// Postgres reports whether the database is PostgreSQL and not SQLite.
	Postgres bool
	// Check, if set, is called before and after each commit. If it returns an error, the commit fails with
	// this error.
	Check func() error
	// Release closes the connections.
	Release func() error

	closed sync.Once
}

// Tx is a transaction that writes.
type Tx struct {
	*sql.Tx
	database *Database
}

// Begin begins a transaction that writes. The end of ctx rolls it back.
func (d *Database) Begin(ctx context.Context) (*Tx, error) {
	tx, err := d.DB.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &Tx{tx, d}, nil
}

// Commit commits the transaction. If it returns nil, the writes are durable; if it returns an error, they may
// have happened.
func (t *Tx) Commit() error {
	if err := t.database.check(); err != nil {
		return errors.Join(err, t.Cancel())
	}
	if err := t.Tx.Commit(); err != nil {
		return err
	}
	return t.database.check()
}

// Cancel rolls the transaction back. After Commit or the end of the context it does nothing.
func (t *Tx) Cancel() error {
	if err := t.Rollback(); !errors.Is(err, sql.ErrTxDone) {
		return err
	}
	return nil
}

func (d *Database) check() error {
	if d.Check == nil {
		return nil
	}
	return d.Check()
}

// Snapshot begins a transaction that reads a single database state.
func (d *Database) Snapshot(ctx context.Context) (*sql.Tx, error) {
	options := &sql.TxOptions{ReadOnly: true}
	if d.Postgres {
		options.Isolation = sql.LevelRepeatableRead
	}
	return d.Reader.BeginTx(ctx, options)
}

// Close closes the connections. A second call does nothing.
func (d *Database) Close() (err error) {
	d.closed.Do(func() { err = d.Release() })
	return err
}

// Failed returns a statement's error with the database name, or the context's error if ctx has ended.
func (d *Database) Failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("%s %s: %w", d.Schema.Kind, d.Name, err)
}

// Damaged returns an [ErrDamaged] for an undecodable row.
func (d *Database) Damaged(row string, err error) error {
	return fmt.Errorf("%w: %s: %s: %w", ErrDamaged, d.Name, row, err)
}
