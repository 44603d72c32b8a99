// Package postgres stores the usage of a policy's limits in a PostgreSQL database, so that several processes
// that sign for one wallet never exceed a limit together:
//
//	store, err := postgres.Open(ctx, "postgres://agent@db.internal/agents", keypair.PublicKey())
//	...
//	defer store.Close()
//	signer, err := policy.New(ctx, keypair, policy.Config{Store: store, ...})
//
// Open creates the tables haggle_policy_log and haggle_policy_record in the first schema of the search path.
// The records of a wallet are numbered. A process appends the next number in one statement, which does
// nothing if another process has used that number; the policy then reads the new records and checks its
// limits again.
//
// A record is as durable as a commit of the server. Open refuses a server with synchronous_commit = off.
// After a failover to an asynchronous standby, usage may be missing.
package postgres

import (
	"bytes"
	"context"
	_ "embed" // the tables
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/gagliardetto/solana-go"
	"github.com/jackc/pgx/v5"

	"github.com/haggle-protocol/haggle/sdk/internal/pgstore"
	"github.com/haggle-protocol/haggle/sdk/policy"
)

//go:embed schema.sql
var schema string

// Store is a [policy.SharedStore]. Each policy needs its own.
type Store struct {
	database *pgstore.Database
	wallet   solana.PublicKey

	lock sync.Mutex
	// last is the number of the last record that was returned or appended.
	last int64
}

var _ policy.SharedStore = (*Store)(nil)

// Open opens the usage of a wallet in a database, and creates the tables if they are missing. The address is
// a URL or a connection string of libpq. No error quotes its password.
func Open(ctx context.Context, address string, wallet solana.PublicKey) (*Store, error) {
	database, err := pgstore.Open(ctx, pgstore.Config{
		Address: address, Content: "usage", Lock: tableLock, Table: "haggle_policy_record", Schema: schema,
		Prepare: func(ctx context.Context, transaction pgx.Tx) error {
			_, err := transaction.Exec(ctx, `INSERT INTO haggle_policy_log (wallet, last) VALUES ($1, 0)
				ON CONFLICT (wallet) DO NOTHING`, wallet.String())
			return err
		},
	})
	if errors.Is(err, pgstore.ErrAddress) {
		return nil, fmt.Errorf("usage: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return &Store{database: database, wallet: wallet}, nil
}

// tableLock is the advisory lock under which the tables are created.
const tableLock = 0x6861_6767_6c65_0002

// Records returns all records of the wallet.
func (s *Store) Records(ctx context.Context) iter.Seq2[policy.Record, error] {
	return s.after(ctx, func() int64 { return 0 })
}

// Further returns the records that this store has neither returned nor appended.
func (s *Store) Further(ctx context.Context) iter.Seq2[policy.Record, error] {
	return s.after(ctx, func() int64 { return s.last })
}

type numbered struct {
	Number int64
	Record string
}

func (s *Store) after(ctx context.Context, number func() int64) iter.Seq2[policy.Record, error] {
	return func(yield func(policy.Record, error) bool) {
		s.lock.Lock()
		defer s.lock.Unlock()
		s.last = number()
		// An error of Query is CollectRows's, too.
		rows, _ := s.database.Query(ctx, `SELECT number, record::text FROM haggle_policy_record
			WHERE wallet = $1 AND number > $2 ORDER BY number`, s.wallet.String(), s.last)
		found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[numbered])
		if err != nil {
			yield(policy.Record{}, s.database.Failed(ctx, err))
			return
		}
		for _, row := range found {
			record, err := decode(row.Record)
			if err != nil {
				err = fmt.Errorf("%s: record %d of %s: %w", s.database.Name, row.Number, s.wallet, err)
				yield(policy.Record{}, err)
				return
			}
			s.last = row.Number
			if !yield(record, nil) {
				return
			}
		}
	}
}

func decode(encoded string) (record policy.Record, err error) {
	decoder := json.NewDecoder(bytes.NewReader([]byte(encoded)))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&record)
	return record, err
}

// The row of the log orders the appends of all processes: an update waits for the one before, and then
// changes nothing because last is another number.
const (
	appendRecord = `
WITH next AS (
	UPDATE haggle_policy_log SET last = last + 1 WHERE wallet = $1 AND last = $2 RETURNING last
)
INSERT INTO haggle_policy_record (wallet, number, record) SELECT $1, last, $3::jsonb FROM next`

	replaceRecords = `
WITH next AS (
	UPDATE haggle_policy_log SET last = last + 1 WHERE wallet = $1 AND last = $2 RETURNING last
), replaced AS (
	DELETE FROM haggle_policy_record WHERE wallet = $1 AND number <= $2 AND EXISTS (SELECT FROM next)
)
INSERT INTO haggle_policy_record (wallet, number, record) SELECT $1, last, $3::jsonb FROM next`
)

// Append adds a record, unless another process has appended one that this store has not returned.
func (s *Store) Append(ctx context.Context, record policy.Record) error {
	return s.write(ctx, appendRecord, record)
}

// Replace replaces all records by one, unless another process has appended one that this store has not
// returned.
func (s *Store) Replace(ctx context.Context, record policy.Record) error {
	return s.write(ctx, replaceRecords, record)
}

func (s *Store) write(ctx context.Context, statement string, record policy.Record) error {
	encoded, err := json.Marshal(record)
	if err != nil {
		return err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	done, err := s.database.Exec(ctx, statement, s.wallet.String(), s.last, string(encoded))
	if err != nil {
		return s.database.Failed(ctx, err)
	}
	if done.RowsAffected() == 0 {
		return policy.ErrBehind
	}
	s.last++
	return nil
}

// Close closes the connections.
func (s *Store) Close() error { return s.database.Close() }
