package indexer

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/store/database"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// facts lists the data that the chain alone determines. They do not depend on polling times.
var facts = []string{
	`SELECT slot, blockhash, parent_slot, block_time FROM slots ORDER BY slot`,
	`SELECT signature, slot, position, flaw, logs FROM transactions ORDER BY slot, position`,
	`SELECT slot, position, event_index, instruction_index, signature, name, negotiation, life, timestamp, data FROM events ORDER BY slot, position, event_index`,
	`SELECT negotiation, life, created_slot, CAST(effective_escrow AS TEXT), CAST(last_offer_amount AS TEXT), last_offer_by,
		CAST(accepted_amount AS TEXT), accepted_round, arbiter, response_window, global_deadline, min_offer_bps FROM negotiations ORDER BY negotiation, life`,
	`SELECT negotiation, life, status, CAST(settled_amount AS TEXT) FROM violations ORDER BY negotiation, life`,
	`SELECT negotiation, life, present FROM accounts ORDER BY negotiation, life`,
	`SELECT negotiation, life, status, current_round, CAST(session_id AS TEXT), CAST(escrow_amount AS TEXT), CAST(effective_escrow AS TEXT),
		buyer, seller, created_at, settled_at, CAST(paid_gross AS TEXT), zopa_enabled, bump
		FROM account_states WHERE present ORDER BY negotiation, life`,
}

// contents returns all facts in a database as text.
func contents(t require.TestingT, ctx context.Context, d *Database) string {
	var all strings.Builder
	for _, table := range Tables {
		var written bytes.Buffer
		_, err := d.Export(ctx, table, CSV, &written)
		require.NoError(t, err)
		all.WriteString(table.Name + "\n" + written.String())
	}
	for _, query := range facts {
		all.WriteString(query + "\n")
		rows, err := d.database.DB.QueryContext(ctx, query)
		require.NoError(t, err)
		names, err := rows.Columns()
		require.NoError(t, err)
		for rows.Next() {
			values := make([]any, len(names))
			for i := range values {
				values[i] = new(any)
			}
			require.NoError(t, rows.Scan(values...))
			for i := range values {
				fmt.Fprint(&all, normalized(*values[i].(*any)), " | ")
			}
			all.WriteByte('\n')
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
	}
	return all.String()
}

// normalized makes the booleans of both databases equal.
func normalized(value any) any {
	switch value {
	case true:
		return 1
	case false:
		return 0
	}
	return value
}

func newSQLite(t *testing.T) *Database {
	t.Helper()
	return openAt(t, "sqlite:"+filepath.Join(t.TempDir(), "index.db"))
}

func openAt(t *testing.T, address string) *Database {
	t.Helper()
	database, err := Open(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, database.Close()) })
	return database
}

// openMemory returns an empty index in memory.
func openMemory(t require.TestingT, ctx context.Context) *Database {
	memory, err := sql.Open("sqlite", ":memory:")
	require.NoError(t, err)
	memory.SetMaxOpenConns(1) // each connection opens a separate database
	index := &database.Database{Schema: schema, DB: memory, Reader: memory, Release: memory.Close}
	require.NoError(t, index.Migrate(ctx))
	return &Database{Dialect: SQLite, Name: "memory", database: index}
}

// openWithoutTables opens a database, leaving the tables to the test, and creates a missing SQLite file.
func openWithoutTables(t *testing.T, address string) *Database {
	t.Helper()
	if path, is := strings.CutPrefix(address, "sqlite:"); is {
		_, err := sqlite.PrepareFile(path)
		require.NoError(t, err)
	}
	database, err := connect(t.Context(), address, false)
	require.NoError(t, err)
	return database
}

// migrateTo migrates the tables to a version, with the migrations in files.
func migrateTo(t *testing.T, d *Database, files fs.FS, version int64) {
	t.Helper()
	dialect := map[Dialect]goose.Dialect{SQLite: goose.DialectSQLite3, Postgres: goose.DialectPostgres}[d.Dialect]
	provider, err := goose.NewProvider(dialect, d.database.DB, files, goose.WithTableName(schema.VersionTable))
	require.NoError(t, err)
	_, err = provider.UpTo(t.Context(), version)
	require.NoError(t, err)
}

// runOnce indexes a chain through the newest slot.
func runOnce(t require.TestingT, ctx context.Context, d *Database, client *rpc.Client, commitment rpc.CommitmentType) {
	indexer, err := New(d, Config{RPC: client, Once: true, Commitment: commitment})
	require.NoError(t, err)
	require.NoError(t, indexer.Run(ctx))
}

// single returns a query's only value.
func single[T any](t require.TestingT, ctx context.Context, d *Database, query string, arguments ...any) (value T) {
	require.NoError(t, d.statements().row(ctx, query, arguments...).Scan(&value))
	return value
}
