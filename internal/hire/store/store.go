package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/databases"
	"github.com/haggle-protocol/haggle/internal/hire/store/queries"
	"github.com/haggle-protocol/haggle/internal/hire/store/schema"
	"github.com/haggle-protocol/haggle/sdk/store/database"
)

// ErrNotFound: no such row.
var ErrNotFound = errors.New("hire: not found")

const (
	// readers limits read-only connections to a SQLite file.
	readers = 4
	// connections limits connections to PostgreSQL.
	connections = 16
)

var home = database.Schema{
	Kind: "home database", VersionTable: "hire_schema_version", Migrations: schema.Files,
	Readers: readers, Connections: connections,
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	database *database.Database
	// read contains prepared statements for single reads, write for transactions.
	read, write *queries.Queries
}

// Open opens a database, and creates or migrates the tables. address is either a postgres:// URL or a SQLite
// file path. Package database defines the errors.
func Open(ctx context.Context, address string) (*Store, error) {
	opened, err := databases.Open(ctx, address, home)
	if err != nil {
		return nil, err
	}
	s := &Store{database: opened}
	if s.read, err = queries.Prepare(ctx, opened.Reader); err == nil {
		s.write, err = queries.Prepare(ctx, opened.DB)
	}
	if err != nil {
		return nil, errors.Join(s.failed(ctx, err), opened.Close())
	}
	return s, nil
}

// String returns the database name. It includes no password.
func (s *Store) String() string { return s.database.Name }

// Close closes the database.
func (s *Store) Close() error {
	return errors.Join(s.read.Close(), s.write.Close(), s.database.Close())
}

// Ready returns an error if the database is not responding.
func (s *Store) Ready(ctx context.Context) error {
	_, err := s.read.CountOpen(ctx, 0, 1)
	return s.failed(ctx, err)
}

func (s *Store) failed(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return s.database.Failed(ctx, err)
}

// Tx is a transaction that writes. It is not safe for concurrent use.
type Tx struct {
	store   *Store
	tx      *database.Tx
	queries *queries.Queries
}

// Begin begins a transaction. The end of ctx cancels it.
func (s *Store) Begin(ctx context.Context) (*Tx, error) {
	tx, err := s.database.Begin(ctx)
	if err != nil {
		return nil, s.failed(ctx, err)
	}
	return &Tx{s, tx, s.write.WithTx(tx.Tx)}, nil
}

// Commit commits the transaction. If it returns an error, the writes may have happened.
func (t *Tx) Commit() error {
	if err := t.tx.Commit(); err != nil {
		return fmt.Errorf("%s %s: %w", home.Kind, t.store, err)
	}
	return nil
}

// Cancel rolls the transaction back. After Commit it has no effect.
func (t *Tx) Cancel() error { return t.tx.Cancel() }

// micros converts a time to the stored form; 0 if the time is zero.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// timeOf converts a stored time to UTC.
func timeOf(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}
