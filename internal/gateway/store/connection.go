package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"
)

// errDialect means that a connection of the wrong dialect was requested.
var errDialect = errors.New("gateway store: the database is of another kind")

// Writer returns the writing connection of a SQLite database, for a library that keeps additional tables in
// the file. No other connection writes: a transaction on it delays the store. Do not close it.
func (s *Store) Writer() (*sql.DB, error) {
	file, is := s.database.(sqliteFile)
	if !is {
		return nil, errDialect
	}
	return file.DB, nil
}

// NewPool returns a pool of up to size further connections to a PostgreSQL database, for a library that keeps
// additional tables there. The caller closes the pool.
func (s *Store) NewPool(ctx context.Context, size int32) (*pgxpool.Pool, error) {
	p, is := s.database.(*postgres)
	if !is {
		return nil, errDialect
	}
	config := p.pool.Config()
	config.MaxConns = size
	return pgxpool.NewWithConfig(ctx, config)
}
