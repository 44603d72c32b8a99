package indexer

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// revealingChain contains two negotiations: one reveals both prices at slots 102 and 103, the other leaves no
// zone between them.
func revealingChain(t *testing.T, buyer, seller uint64) *scriptedChain {
	t.Helper()
	chain, none := newScriptedChain(), newScriptedScenario(2, 1)
	deal := newScriptedScenario(1, 1)
	revealed := func(s *scriptedScenario, price, midpoint uint64, bySeller bool) protocol.Event {
		event := &protocol.ZopaRevealed{NegotiationID: s.address, Agent: s.buyer, Price: price, Midpoint: midpoint}
		if bySeller {
			event.Agent = s.seller
		}
		return event
	}
	middle, ok := protocol.NashBenchmark(buyer, seller)
	require.True(t, ok)
	for i, events := range [][]protocol.Event{
		{deal.steps()[0].events[0], none.steps()[0].events[0]},
		{deal.steps()[1].events[0], none.steps()[1].events[0]},
		{revealed(deal, buyer, 0, false), revealed(none, 400, 0, false)},
		{revealed(deal, seller, middle, true), revealed(none, 401, 0, true), &protocol.NegotiationRejected{
			NegotiationID: none.address, RejectedBy: none.address, RefundAmount: 1000, Timestamp: 1_700_000_009,
		}},
	} {
		chain.add(uint64(100+i), 1, newTransaction(t, uint64(i), nil, logsOf(events...)))
	}
	return chain
}

const pricesOf = `SELECT COALESCE(CAST(buyer_price AS TEXT), '-') || ' ' || COALESCE(CAST(seller_price AS TEXT), '-') || ' ' ||
	COALESCE(CAST(nash_price AS TEXT), '-') FROM outcomes WHERE negotiation = $1`

// The Nash price is set after both reveals, not before, exactly, and never if there is no zone. A fork that
// undoes a reveal removes it.
func TestTheNashPriceFollowsTheReveals(t *testing.T) {
	for name, database := range map[string]*Database{"sqlite": newSQLite(t), "postgres": openAt(t, server.Create(t))} {
		t.Run(name, func(t *testing.T) {
			chain := revealingChain(t, math.MaxUint64, math.MaxUint64-3)
			deal, none := numberedKey('N', 1).String(), numberedKey('N', 2).String()
			prices := func(negotiation string) string {
				runOnce(t, t.Context(), database, chain.client(), rpc.CommitmentConfirmed)
				return single[string](t, t.Context(), database, pricesOf, negotiation)
			}
			require.Equal(t, "18446744073709551615 18446744073709551612 18446744073709551613", prices(deal))
			require.Equal(t, "400 401 -", prices(none))

			outcomes, _ := TableNamed("outcomes")
			path := filepath.Join(t.TempDir(), "outcomes.parquet")
			_, err := database.ExportFile(t.Context(), outcomes, Parquet, path)
			require.NoError(t, err)
			type row struct {
				Negotiation string  `parquet:"negotiation,optional"`
				Nash        *uint64 `parquet:"nash_price,optional"`
			}
			read, err := parquet.ReadFile[row](path)
			require.NoError(t, err)
			require.Equal(t, []row{{deal, new(uint64(math.MaxUint64 - 2))}, {none, nil}}, read)
			var written bytes.Buffer
			_, err = database.Export(t.Context(), outcomes, CSV, &written)
			require.NoError(t, err)
			records, err := csv.NewReader(&written).ReadAll()
			require.NoError(t, err)
			require.Equal(t, []string{"buyer_price", "seller_price", "nash_price"}, records[0][32:35])
			require.Equal(t, []string{"18446744073709551615", "18446744073709551612", "18446744073709551613"}, records[1][32:35])
			require.Equal(t, "", records[2][34])

			chain.forkAt(103)
			chain.add(104, 2)
			require.Equal(t, "18446744073709551615 - -", prices(deal))
			require.Equal(t, "400 - -", prices(none))
		})
	}
}

// The migration computes the prices of negotiations that an older version has indexed.
func TestTheMigrationAddsThePrices(t *testing.T) {
	for name, address := range map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "x.db"), "postgres": server.Create(t)} {
		t.Run(name, func(t *testing.T) {
			older := openWithoutTables(t, address)
			migrateTo(t, older, migrationsOf(older.Dialect == Postgres), 4)
			// Today's indexer writes three more columns than the older one did.
			columns := []string{"buyer_price", "seller_price", "nash_price"}
			alterNegotiations(t, older, "ADD COLUMN %s TEXT", columns...)
			runOnce(t, t.Context(), older, revealingChain(t, 700, 300).client(), rpc.CommitmentConfirmed)
			alterNegotiations(t, older, "DROP COLUMN %s", columns...)
			require.NoError(t, older.Close())

			database := openAt(t, address)
			for negotiation, want := range map[uint64]string{1: "700 300 500", 2: "400 401 -"} {
				require.Equal(t, want, single[string](t, t.Context(), database, pricesOf, numberedKey('N', negotiation).String()))
			}
			fresh := newSQLite(t)
			runOnce(t, t.Context(), fresh, revealingChain(t, 700, 300).client(), rpc.CommitmentConfirmed)
			require.Equal(t, contents(t, t.Context(), fresh), contents(t, t.Context(), database))
		})
	}
}

func alterNegotiations(t *testing.T, d *Database, change string, columns ...string) {
	t.Helper()
	for _, column := range columns {
		_, err := d.statements().exec(t.Context(), `ALTER TABLE negotiations `+fmt.Sprintf(change, column))
		require.NoError(t, err)
	}
}
