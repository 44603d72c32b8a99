package store

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/haggle-protocol/haggle/sdk/store/database"
	"github.com/haggle-protocol/haggle/sdk/store/internal/queries"
	"github.com/haggle-protocol/haggle/sdk/store/internal/schema"
)

// Database errors.
var (
	// ErrDamaged: the database contains data not written by a Store.
	ErrDamaged = database.ErrDamaged
	// ErrVersion: the database belongs to another version of this package or to another program. It is not
	// changed.
	ErrVersion = database.ErrVersion
	// ErrHardLinks: the database file has several names. Processes that open it by different names do not
	// see each other's writes.
	ErrHardLinks = database.ErrHardLinks
	// ErrReplaced: the database file, or the write-ahead log, was deleted or replaced while open.
	ErrReplaced = database.ErrReplaced
	// ErrAddress: a PostgreSQL database address is neither a URL nor a libpq connection string.
	ErrAddress = database.ErrAddress
)

// VersionTable is the table containing the schema version.
const VersionTable = "haggle_state_version"

// Schema returns the tables of state databases.
func Schema() database.Schema {
	return database.Schema{
		Kind: "state database", VersionTable: VersionTable, Migrations: func(bool) fs.FS { return schema.Files },
	}
}

// Store is an open state database. Its methods are safe for concurrent use.
type Store struct {
	database *database.Database
	queries  *queries.Queries
	leases   *leases
	closed   sync.Once
}

// New returns the store for a database whose tables exist. Packages sqlite and postgres call it.
func New(opened *database.Database) *Store {
	return &Store{database: opened, queries: queries.New(opened.DB), leases: newLeases(opened.Postgres)}
}

// String returns the name of the database.
func (s *Store) String() string { return s.database.Name }

// Close releases the leases of the journal's clients and closes the database. A second call does nothing.
func (s *Store) Close() (err error) {
	s.closed.Do(func() {
		s.closeLeases()
		err = s.database.Close()
	})
	return err
}

// write runs act in a transaction and commits it if act returns nil.
func (s *Store) write(ctx context.Context, act func(*queries.Queries) error) error {
	transaction, err := s.database.Begin(ctx)
	if err != nil {
		return s.failed(ctx, err)
	}
	if err = act(s.queries.WithTx(transaction.Tx)); err != nil {
		return errors.Join(s.failed(ctx, err), transaction.Cancel())
	}
	return s.failed(ctx, transaction.Commit())
}

// failed returns a database error, or the context's error if the context has ended.
func (s *Store) failed(ctx context.Context, err error) error { return s.database.Failed(ctx, err) }

// damaged returns an ErrDamaged for an undecodable row.
func (s *Store) damaged(row string, err error) error { return s.database.Damaged(row, err) }
