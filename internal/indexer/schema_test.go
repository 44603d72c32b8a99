package indexer

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// createEarlier creates a database with a development version's migrations: today's version numbers, but no
// bond parts.
func createEarlier(t *testing.T, address string, version int64) {
	t.Helper()
	database := openWithoutTables(t, address)
	earlier := fstest.MapFS{}
	folder := "migrations/" + string(database.Dialect)
	files, err := fs.Glob(migrations, folder+"/*.sql")
	require.NoError(t, err)
	for _, file := range files {
		text, err := fs.ReadFile(migrations, file)
		require.NoError(t, err)
		changed := strings.ReplaceAll(string(text), " n.bond_to_buyer, n.bond_to_seller,", "")
		var lines []string
		for line := range strings.Lines(changed) {
			if !strings.HasPrefix(strings.TrimSpace(line), "bond_to_") {
				lines = append(lines, line)
			}
		}
		earlier[filepath.Base(file)] = &fstest.MapFile{Data: []byte(strings.Join(lines, ""))}
	}
	migrateTo(t, database, earlier, version)
	require.NoError(t, database.Close())
}

func TestADatabaseWithOtherTablesIsRefusedAtTheStart(t *testing.T) {
	for _, version := range []int64{1, 2} {
		addresses := map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "x.db"), "postgres": server.Create(t)}
		for name, address := range addresses {
			t.Run(name, func(t *testing.T) {
				createEarlier(t, address, version)
				_, err := Open(t.Context(), address)
				require.ErrorIs(t, err, ErrOtherSchema)
				require.ErrorContains(t, err, "column negotiations.bond_to_buyer is missing")
				_, err = OpenExisting(t.Context(), address)
				require.ErrorIs(t, err, ErrOtherSchema)
			})
		}
	}
}

// Databases exist with every released migration, so changes are further files.
func TestReleasedMigrationsDoNotChange(t *testing.T) {
	released := map[string]string{
		"postgres/00001_index.sql":          "9ecd65df581f570d",
		"postgres/00002_incomplete.sql":     "5cadc53066017ed7",
		"postgres/00003_rebuilt.sql":        "67b79e3b1030b06f",
		"postgres/00004_mints.sql":          "07f0a0abee08bacb",
		"postgres/00005_prices.sql":         "1edfd957cbb9108c",
		"postgres/00006_declarations.sql":   "2ba5ed049abda91c",
		"postgres/00007_offer_metadata.sql": "590005b4f16ce117",
		"sqlite/00001_index.sql":            "5f3b79d3652f2000",
		"sqlite/00002_incomplete.sql":       "121c298029a69453",
		"sqlite/00003_rebuilt.sql":          "4963f90e3cb232e2",
		"sqlite/00004_mints.sql":            "1b71ff91b4bb6487",
		"sqlite/00005_prices.sql":           "2334eec9c88b04d0",
		"sqlite/00006_declarations.sql":     "73930f772d9dfa7f",
		"sqlite/00007_offer_metadata.sql":   "e1b00a30c73d1723",
	}
	for file, expected := range released {
		text, err := fs.ReadFile(migrations, "migrations/"+file)
		require.NoError(t, err)
		sum := sha256.Sum256(text)
		require.Equal(t, expected, hex.EncodeToString(sum[:8]), file)
	}
	files, err := fs.Glob(migrations, "migrations/*/*.sql")
	require.NoError(t, err)
	require.Len(t, released, len(files))
}
