package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/internal/arena/chain"
	"github.com/haggle-protocol/haggle/internal/arena/store/queries"
	"github.com/haggle-protocol/haggle/internal/arena/store/schema"
	"github.com/haggle-protocol/haggle/internal/databases"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/store/database"
)

var (
	// ErrNotFound: the market does not exist.
	ErrNotFound = errors.New("arena: market not found")
	// ErrExists: a market with this id exists.
	ErrExists = errors.New("arena: market exists")
	// ErrHeld: another process holds the market. The error text names that process.
	ErrHeld = errors.New("arena: market held by another process")
	// ErrLost: the process no longer holds the market. Load the market again, then continue.
	ErrLost = errors.New("arena: market no longer held by this process")
)

const (
	// readers limits read-only connections to a SQLite file.
	readers = 4
	// connections limits connections to PostgreSQL.
	connections = 16
	// pageRows is the number of entries read at once: messages take up to 16 KiB.
	pageRows = 256
)

var arenaSchema = database.Schema{
	Kind: "arena database", VersionTable: "arena_schema_version", Migrations: schema.Files,
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
	opened, err := databases.Open(ctx, address, arenaSchema)
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

// String returns the name of the database. It contains no password.
func (s *Store) String() string { return s.database.Name }

// Close closes the database.
func (s *Store) Close() error {
	return errors.Join(s.read.Close(), s.write.Close(), s.database.Close())
}

func (s *Store) failed(ctx context.Context, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return ErrNotFound
	}
	return s.database.Failed(ctx, err)
}

// in runs a transaction that writes. If the commit returns an error, the writes may have happened.
func (s *Store) in(ctx context.Context, act func(*queries.Queries) error) (err error) {
	tx, err := s.database.Begin(ctx)
	if err != nil {
		return s.failed(ctx, err)
	}
	defer func() { err = errors.Join(err, tx.Cancel()) }()
	if err := act(s.write.WithTx(tx.Tx)); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s %s: %w", arenaSchema.Kind, s, err)
	}
	return nil
}

// Create adds a market. It returns [ErrExists] if the id is taken, and a [*arena.Refusal] if the
// configuration is not valid.
func (s *Store) Create(ctx context.Context, config arena.Config, now time.Time) error {
	if _, err := arena.New(config); err != nil {
		return err
	}
	line, err := chain.Begin(config, now)
	if err != nil {
		return err
	}
	return s.in(ctx, func(q *queries.Queries) error {
		added, err := q.AddMarket(ctx, queries.AddMarketParams{
			ID: config.Market, Seed: line.Seed, AuditLength: line.Sequence, AuditHead: line.Hash, Now: now.UnixMicro(),
		})
		switch {
		case err != nil:
			return s.failed(ctx, err)
		case added == 0:
			return fmt.Errorf("%w: %s", ErrExists, config.Market)
		}
		return s.failed(ctx, q.AddEntry(ctx, queries.AddEntryParams{
			Market: config.Market, Sequence: line.Sequence, Entry: line.Text, Hash: line.Hash,
		}))
	})
}

// Markets returns up to 256 market ids after the given id, sorted.
func (s *Store) Markets(ctx context.Context, after string) ([]string, error) {
	ids, err := s.read.Markets(ctx, after, pageRows)
	return ids, s.failed(ctx, err)
}

// Take gives a market to a holder until a given time, or extends the time. The holder's name must be unique
// among processes. It returns [ErrHeld] while another holder holds the market. A holder shows nothing dated
// later than this time. The next holder, whose clock is past it, can therefore continue consistently.
func (s *Store) Take(ctx context.Context, market, holder string, now, until time.Time) error {
	taken, err := s.write.TakeMarket(ctx, queries.TakeMarketParams{
		ID: market, Holder: holder, HeldUntil: until.UnixMicro(), Now: now.UnixMicro(),
	})
	if err != nil || taken > 0 {
		return s.failed(ctx, err)
	}
	other, held, err := s.Holder(ctx, market)
	if err != nil {
		return err
	}
	return fmt.Errorf("%w: %s has %s until %s", ErrHeld, other, market, held.UTC().Format(time.RFC3339Nano))
}

// Holder returns the name of the process holding a market, and until when. Later, another process can take
// the market.
func (s *Store) Holder(ctx context.Context, market string) (holder string, until time.Time, err error) {
	row, err := s.read.Market(ctx, market)
	return row.Holder, time.UnixMicro(row.HeldUntil), s.failed(ctx, err)
}

// Give ends a holder's time, so that another process can take the market afterwards. Nothing of the market may be later
// than now.
func (s *Store) Give(ctx context.Context, market, holder string, now time.Time) error {
	return s.failed(ctx, s.write.GiveMarket(ctx, now.UnixMicro(), market, holder))
}
