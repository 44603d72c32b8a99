// Package pgstore opens PostgreSQL databases for stores whose commits must survive a crash of the server.
package pgstore

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrAddress: the address of a database is neither a URL nor a connection string of libpq.
var ErrAddress = errors.New("address not valid: use postgres://USER@HOST:PORT/DATABASE")

// Database is an open database.
type Database struct {
	*pgxpool.Pool
	// Name is the database's, without a password.
	Name   string
	prefix string
}

// Config describes a store.
type Config struct {
	// Address is a URL or a connection string of libpq. No error quotes its password.
	Address string
	// Prefix begins the errors.
	Prefix string
	// Content names the data that a crash must not lose.
	Content string
	// Lock is the number of the advisory lock under which Table is created by Schema if it is missing.
	Lock          int64
	Table, Schema string
	// Prepare is called after that, in the same transaction. Nil is no call.
	Prepare func(context.Context, pgx.Tx) error
}

// Open opens a database and creates the tables of the store if they are missing. It returns [ErrAddress], and
// refuses a server with synchronous_commit = off.
func Open(ctx context.Context, c Config) (*Database, error) {
	config, err := pgxpool.ParseConfig(c.Address)
	if err != nil {
		return nil, fmt.Errorf("%s%w", c.Prefix, ErrAddress)
	}
	server := config.ConnConfig
	name := fmt.Sprintf("postgres database %s on %s:%d", server.Database, server.Host, server.Port)
	if strings.HasPrefix(server.Host, "/") {
		name = fmt.Sprintf("postgres database %s on the socket in %s", server.Database, server.Host)
	}
	// The context limits connections that the pool opens in advance, and there are none.
	pool, err := pgxpool.NewWithConfig(context.Background(), config)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", c.Prefix, name, err)
	}
	d := &Database{Pool: pool, Name: name, prefix: c.Prefix}
	if err := d.prepare(ctx, c); err != nil {
		pool.Close()
		return nil, err
	}
	return d, nil
}

func (d *Database) prepare(ctx context.Context, c Config) error {
	var commit string
	if err := d.QueryRow(ctx, "SHOW synchronous_commit").Scan(&commit); err != nil {
		return d.Failed(ctx, err)
	}
	if commit == "off" {
		return fmt.Errorf("%s%s: synchronous_commit is off: set it to on, or a crash can lose %s",
			c.Prefix, d.Name, c.Content)
	}
	return d.Failed(ctx, pgx.BeginFunc(ctx, d.Pool, func(transaction pgx.Tx) error {
		if _, err := transaction.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", c.Lock); err != nil {
			return err
		}
		var exists bool
		err := transaction.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", c.Table).Scan(&exists)
		if err == nil && !exists {
			_, err = transaction.Exec(ctx, c.Schema)
		}
		if err == nil && c.Prepare != nil {
			err = c.Prepare(ctx, transaction)
		}
		return err
	}))
}

// Failed returns an error of the database, or the context's if that has ended.
func (d *Database) Failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("%s%s: %w", d.prefix, d.Name, err)
}

// Close closes the connections.
func (d *Database) Close() error {
	d.Pool.Close()
	return nil
}
