package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
)

// errDialect means that a connection of the other dialect is requested.
var errDialect = errors.New("gateway store: the database is of another kind")

// Writer returns the connection of a SQLite database that writes, for a library that keeps tables of its own
// in the file. It is the only one: a transaction on it delays the store. Do not close it.
func (s *Store) Writer() (*sql.DB, error) {
	file, is := s.database.(*sqliteFile)
	if !is {
		return nil, errDialect
	}
	return file.writes, nil
}

// NewPool returns at most size further connections to a PostgreSQL database, for a library that keeps tables
// of its own in it. The caller closes them.
func (s *Store) NewPool(ctx context.Context, size int32) (*pgxpool.Pool, error) {
	p, is := s.database.(*postgres)
	if !is {
		return nil, errDialect
	}
	config := p.pool.Config()
	config.MaxConns = size
	return pgxpool.NewWithConfig(ctx, config)
}
