package indexer

import (
	"bytes"
	"encoding/csv"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// most is the largest amount.
const most = "18446744073709551615"

// immenseChain contains negotiations using a single mint with amounts above 63 bits, one of them with the
// largest escrow.
func immenseChain(t *testing.T, count int) *scriptedChain {
	chain := newScriptedChain()
	number := uint64(0)
	for n := range count {
		scenario := newScriptedScenario(uint64(3*n), math.MaxUint64/1000)
		for _, step := range scenario.steps() {
			number++
			item := newTransaction(t, number, nil, logsOf(step.events...))
			item.accounts = map[solana.PublicKey]*protocol.Negotiation{scenario.address: step.state}
			chain.add(100+number, 1, item)
		}
	}
	largest := newScriptedScenario(999, 1)
	created := largest.steps()[0].events[0].(*protocol.NegotiationCreated)
	created.EscrowAmount, created.SessionID, created.BondRequired = math.MaxUint64, math.MaxUint64, 0
	state := *largest.steps()[0].state
	state.EscrowAmount, state.EffectiveEscrow, state.SessionID = math.MaxUint64, math.MaxUint64, math.MaxUint64
	item := newTransaction(t, number+1, nil, logsOf(created))
	item.accounts = map[solana.PublicKey]*protocol.Negotiation{largest.address: &state}
	rejected := newTransaction(t, number+2, nil, logsOf(&protocol.NegotiationRejected{
		NegotiationID: largest.address, RejectedBy: largest.seller, RefundAmount: math.MaxUint64, Timestamp: created.Timestamp + 1,
	}))
	chain.add(101+number, 1, item, rejected)
	chain.reach(200+number, 190+number)
	return chain
}

// Tables, views, sums and files keep every amount exactly.
func TestAmountsOf64BitsAreExact(t *testing.T) {
	const count = 40
	chain := immenseChain(t, count)
	for name, database := range map[string]*Database{"sqlite": newSQLite(t), "postgres": openAt(t, server.Create(t))} {
		t.Run(name, func(t *testing.T) {
			ctx := t.Context()
			runOnce(t, ctx, database, chain.client(), rpc.CommitmentConfirmed)
			for query, want := range map[string]string{
				`SELECT CAST(escrow_amount AS TEXT) FROM outcomes WHERE status = 'Rejected'`:         most,
				`SELECT CAST(refund AS TEXT) FROM outcomes WHERE status = 'Rejected'`:                most,
				`SELECT CAST(session_id AS TEXT) FROM negotiations WHERE status = 'Rejected'`:        most,
				`SELECT CAST(effective_escrow AS TEXT) FROM negotiations WHERE status = 'Rejected'`:  most,
				`SELECT CAST(effective_escrow AS TEXT) FROM account_states WHERE status = 'Created'`: most,
			} {
				require.Equal(t, want, single[string](t, ctx, database, query), query)
			}
			unit := new(big.Int).SetUint64(math.MaxUint64 / 1000)
			times := func(parts, negotiations int64) string {
				return new(big.Int).Mul(unit, big.NewInt(parts*negotiations)).String()
			}
			largest, _ := new(big.Int).SetString(most, 10)
			escrowed, _ := new(big.Int).SetString(times(1000, count), 10)
			refunds, _ := new(big.Int).SetString(times(380, count), 10)
			for column, want := range map[string]string{
				"escrowed": new(big.Int).Add(escrowed, largest).String(), "refunds": new(big.Int).Add(refunds, largest).String(),
				"settled_amount": times(600, count), "net_amount": times(597, count), "fees": times(3, count), "decay": times(20, count),
			} {
				require.Equal(t, want, single[string](t, ctx, database, `SELECT CAST(`+column+` AS TEXT) FROM totals`), column)
			}
			require.Zero(t, single[int](t, ctx, database, `SELECT COUNT(*) FROM violations`))
			readsBack(t, database, new(big.Int).Add(escrowed, largest))
		})
	}
}

// readsBack reads an exported file as another program would.
func readsBack(t *testing.T, database *Database, escrowed *big.Int) {
	t.Helper()
	folder := t.TempDir()
	outcomes, _ := TableNamed("outcomes")
	rows, err := database.ExportFile(t.Context(), outcomes, Parquet, filepath.Join(folder, "outcomes.parquet"))
	require.NoError(t, err)
	require.EqualValues(t, 41, rows)
	type outcomeRow struct {
		Negotiation  string  `parquet:"negotiation,optional"`
		Status       string  `parquet:"status,optional"`
		EscrowAmount uint64  `parquet:"escrow_amount,optional"`
		Settled      *uint64 `parquet:"settled_amount,optional"`
		Complete     bool    `parquet:"complete,optional"`
	}
	read, err := parquet.ReadFile[outcomeRow](filepath.Join(folder, "outcomes.parquet"))
	require.NoError(t, err)
	require.Len(t, read, 41)
	last := read[40]
	require.Equal(t, outcomeRow{numberedKey('N', 999).String(), "Rejected", math.MaxUint64, nil, true}, last)
	require.Equal(t, uint64(math.MaxUint64/1000*600), *read[0].Settled)

	totals, _ := TableNamed("totals")
	_, err = database.ExportFile(t.Context(), totals, Parquet, filepath.Join(folder, "totals.parquet"))
	require.NoError(t, err)
	type totalRow struct {
		Escrowed [16]byte `parquet:"escrowed,optional,decimal(0:38)"`
	}
	sums, err := parquet.ReadFile[totalRow](filepath.Join(folder, "totals.parquet"))
	require.NoError(t, err)
	require.Equal(t, escrowed, new(big.Int).SetBytes(sums[0].Escrowed[:]))

	_, err = database.ExportFile(t.Context(), outcomes, CSV, filepath.Join(folder, "outcomes.csv"))
	require.NoError(t, err)
	file, err := os.Open(filepath.Join(folder, "outcomes.csv"))
	require.NoError(t, err)
	defer file.Close()
	records, err := csv.NewReader(file).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"escrow_amount", "settled_amount"}, records[0][10:12])
	require.Equal(t, []string{most, ""}, records[41][10:12])
}

// The view violations finds an amount wrong by one unit, in either direction.
func TestAWrongAmountIsAViolation(t *testing.T) {
	for name, change := range map[string]func(steps []step){
		"an escrow that is larger": func(steps []step) { steps[0].events[0].(*protocol.NegotiationCreated).EscrowAmount++ },
		"a decay that is smaller":  func(steps []step) { steps[4].events[1].(*protocol.NegotiationSettled).EscrowDecayTotal-- },
		"an escrow that is lost":   func(steps []step) { steps[3].events[0].(*protocol.OfferSubmitted).EffectiveEscrow-- },
		"a sweep that is short":    func(steps []step) { steps[5].events[0].(*protocol.NegotiationClosed).Swept-- },
		"a price above the escrow": func(steps []step) { steps[4].events[1].(*protocol.NegotiationSettled).SettledAmount = math.MaxUint64 },
	} {
		for _, scale := range []uint64{1, math.MaxUint64 / 1001} {
			t.Run(name, func(t *testing.T) {
				chain := newScriptedChain()
				steps := newScriptedScenario(1, scale).steps()
				change(steps)
				for i, step := range steps {
					chain.add(uint64(100+i), 1, newTransaction(t, uint64(i), nil, logsOf(step.events...)))
				}
				var found []string
				for _, database := range []*Database{newSQLite(t), openAt(t, server.Create(t))} {
					runOnce(t, t.Context(), database, chain.client(), rpc.CommitmentConfirmed)
					require.Equal(t, 1, single[int](t, t.Context(), database, `SELECT COUNT(*) FROM violations`))
					found = append(found, contents(t, t.Context(), database))
				}
				require.Equal(t, found[0], found[1])
			})
		}
	}
}

// A failed export keeps the existing file.
func TestAFailedExportKeepsTheFile(t *testing.T) {
	chain := immenseChain(t, 1)
	database := newSQLite(t)
	runOnce(t, t.Context(), database, chain.client(), rpc.CommitmentConfirmed)
	offers, _ := TableNamed("offers")
	path := filepath.Join(t.TempDir(), "offers.csv")
	_, err := database.ExportFile(t.Context(), offers, CSV, path)
	require.NoError(t, err)
	before, err := os.ReadFile(path)
	require.NoError(t, err)
	_, err = database.statements().exec(t.Context(), `UPDATE events SET fields = json_set(fields, '$.amount', 'much') WHERE name = 'OfferSubmitted' AND slot = (SELECT MAX(slot) FROM events WHERE name = 'OfferSubmitted')`)
	require.NoError(t, err)
	_, err = database.ExportFile(t.Context(), offers, CSV, path)
	require.ErrorContains(t, err, "offers.amount")
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.True(t, bytes.Equal(before, after))
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1)
}
