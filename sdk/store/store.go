package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/haggle-protocol/haggle/sdk/store/internal/queries"
)

var (
	// ErrDamaged: the database contains data that a Store has not written.
	ErrDamaged = errors.New("haggle: state database damaged")
	// ErrVersion: the database belongs to another version of this package or to another program. It is not
	// changed.
	ErrVersion = errors.New("haggle: state database of another version")
	// ErrHardLinks: the database file has several names. Processes that open it by different names do not
	// see each other's writes.
	ErrHardLinks = errors.New("haggle: state database has several hard links")
	// ErrReplaced: the database file, or its write-ahead log, was deleted or replaced after it was opened.
	ErrReplaced = errors.New("haggle: state database deleted or replaced")
	// ErrAddress: the address of a PostgreSQL database is neither a URL nor a connection string of libpq.
	ErrAddress = errors.New("haggle: state database: address not valid: use postgres://USER@HOST:PORT/DATABASE")
)

// Store is an open state database. Its methods may be called from several goroutines.
type Store struct {
	config  Config
	queries *queries.Queries
	leases  *leases
	closed  sync.Once
}

// Config describes an open database. Packages sqlite and postgres fill it in.
type Config struct {
	DB *sql.DB
	// Name identifies the database in errors. It contains no password.
	Name string
	// Postgres reports whether the database is PostgreSQL and not SQLite.
	Postgres bool
	// Check, if set, is called before and after each commit. The write fails with its error.
	Check func() error
	// Close closes the database.
	Close func() error
}

// New creates or migrates the tables and returns the store. It returns [ErrVersion] for the tables of a newer
// version.
func New(ctx context.Context, config Config) (*Store, error) {
	s := &Store{config: config, queries: queries.New(config.DB), leases: newLeases(config.Postgres)}
	if err := s.migrate(ctx); err != nil {
		return nil, s.failed(ctx, err)
	}
	return s, nil
}

// String returns the name of the database.
func (s *Store) String() string { return s.config.Name }

// Close releases the leases of the journal's clients and closes the database. A second call does nothing.
func (s *Store) Close() (err error) {
	s.closed.Do(func() {
		s.closeLeases()
		err = s.config.Close()
	})
	return err
}

// write runs act in a transaction and commits it if act returns nil.
func (s *Store) write(ctx context.Context, act func(*queries.Queries) error) error {
	transaction, err := s.config.DB.BeginTx(ctx, nil)
	if err != nil {
		return s.failed(ctx, err)
	}
	if err = act(s.queries.WithTx(transaction)); err == nil {
		err = s.check()
	}
	if err != nil {
		err = s.failed(ctx, err)
		// The end of the context has rolled it back.
		if undone := transaction.Rollback(); !errors.Is(undone, sql.ErrTxDone) {
			err = errors.Join(err, undone)
		}
		return err
	}
	if err = transaction.Commit(); err == nil {
		err = s.check()
	}
	return s.failed(ctx, err)
}

func (s *Store) check() error {
	if s.config.Check == nil {
		return nil
	}
	return s.config.Check()
}

// failed returns an error of the database, or the context's if that has ended.
func (s *Store) failed(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("state database %s: %w", s.config.Name, err)
}

// damaged returns an ErrDamaged for a row that cannot be decoded.
func (s *Store) damaged(row string, err error) error {
	return fmt.Errorf("%w: %s: %s: %w", ErrDamaged, s.config.Name, row, err)
}
