package indexer

import (
	"encoding/csv"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"
)

func TestTokensAreExact(t *testing.T) {
	huge, _ := new(big.Int).SetString("99999999999999999999999999999999999999", 10)
	for want, test := range map[string]struct {
		units    *big.Int
		decimals int64
	}{
		"0":                     {big.NewInt(0), 0},
		"0.000000":              {big.NewInt(0), 6},
		"0.000001":              {big.NewInt(1), 6},
		"18446744073.709551615": {new(big.Int).SetUint64(math.MaxUint64), 9},
		"99999999999999999999999999999999.999999":    {huge, 6},
		"0.0000000000000000000000000000000000000042": {big.NewInt(42), 40},
	} {
		require.Equal(t, want, inTokens(test.units, &test.decimals))
	}
	require.Nil(t, inTokens(big.NewInt(1), nil))
}

func TestTheDecimalsAreThoseOfTheTokenAccounts(t *testing.T) {
	first, second, without := solana.PublicKey{1}, solana.PublicKey{2}, solana.PublicKey{3}
	found := mintDecimals(&rpc.TransactionMeta{
		PreTokenBalances: []rpc.TokenBalance{
			{Mint: first, UiTokenAmount: &rpc.UiTokenAmount{Decimals: 6}}, {Mint: without},
		},
		PostTokenBalances: []rpc.TokenBalance{{Mint: second, UiTokenAmount: &rpc.UiTokenAmount{Decimals: 9}}},
	})
	require.Equal(t, map[string]uint8{first.String(): 6, second.String(): 9}, found)
}

// Both databases export tokens and times beside base units and Unix seconds. If the mint's decimals are
// unknown, tokens are missing, and the other columns are unchanged.
func TestExportsHaveTokensAndTimes(t *testing.T) {
	outcomes, _ := TableNamed("outcomes")
	for name, database := range map[string]*Database{"sqlite": newSQLite(t), "postgres": openAt(t, server.Create(t))} {
		t.Run(name, func(t *testing.T) {
			runOnce(t, t.Context(), database, immenseChain(t, 1).client(), rpc.CommitmentConfirmed)
			without := exportedRecords(t, database, outcomes)
			_, err := database.statements().exec(t.Context(), `INSERT INTO mints (mint, decimals) SELECT DISTINCT mint, 6 FROM negotiations`)
			require.NoError(t, err)
			with := exportedRecords(t, database, outcomes)
			require.Equal(t, without[0], with[0])
			last := len(with) - 1
			value := func(records [][]string, column string) string {
				return records[last][slices.Index(records[0], column)]
			}
			require.Equal(t, "18446744073709.551615", value(with, "escrow_amount_tokens"))
			require.Equal(t, "18446744073709551615", value(with, "escrow_amount"))
			require.Equal(t, "6", value(with, "decimals"))
			require.Empty(t, value(with, "settled_amount_tokens"), "it was rejected")
			require.Empty(t, value(without, "escrow_amount_tokens"))
			require.Empty(t, value(without, "decimals"))
			require.NotContains(t, with[0], "session_id_tokens")
			created, err := time.Parse(time.RFC3339, value(with, "created_time"))
			require.NoError(t, err)
			require.Equal(t, time.UTC, created.Location())

			path := filepath.Join(t.TempDir(), "outcomes.parquet")
			_, err = database.ExportFile(t.Context(), outcomes, Parquet, path)
			require.NoError(t, err)
			type outcomeRow struct {
				Escrow  string     `parquet:"escrow_amount_tokens,optional"`
				Settled *string    `parquet:"settled_amount_tokens,optional"`
				Created time.Time  `parquet:"created_time,optional,timestamp(millisecond)"`
				Seconds int64      `parquet:"created_at,optional"`
				Closed  *time.Time `parquet:"closed_time,optional,timestamp(millisecond)"`
			}
			rows, err := parquet.ReadFile[outcomeRow](path)
			require.NoError(t, err)
			require.Equal(t, "18446744073709.551615", rows[last-1].Escrow)
			require.Nil(t, rows[last-1].Settled)
			require.Equal(t, created, rows[last-1].Created.UTC())
			require.Equal(t, created.Unix(), rows[last-1].Seconds)
			require.Nil(t, rows[last-1].Closed)
		})
	}
}

// exportedRecords returns a table as CSV, with the names first.
func exportedRecords(t *testing.T, database *Database, table Table) [][]string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.csv")
	_, err := database.ExportFile(t.Context(), table, CSV, path)
	require.NoError(t, err)
	file, err := os.Open(path)
	require.NoError(t, err)
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	return records
}
