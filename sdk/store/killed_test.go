package store_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/keeper"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/store"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// victimPath is the database that a process of TestWritesSurviveKills writes to until it is killed.
const victimPath = "HAGGLE_STORETEST_PATH"

// victimWallet is the wallet of all writes.
var victimWallet = solana.PublicKey{7}

// victimBudget is the budget of all expenses, which are one lamport each.
func victimBudget(limit uint64) keeper.Budget {
	return keeper.Budget{Wallet: victimWallet, Name: "urgent", Limit: limit}
}

// victimNegotiation is the negotiation of a sealed price.
func victimNegotiation(number uint64) *haggle.Snapshot {
	n := &haggle.Snapshot{Address: solana.PublicKey{8}}
	n.Buyer, n.CreatedAt, n.EscrowAmount, n.ZopaEnabled = victimWallet, int64(number), 5_000_000, true
	return n
}

// writeUntilKilled writes a usage record, an expense and a sealed price for each number that no earlier process
// has used. It prints the number and the price's commitment when the store has confirmed all three.
func writeUntilKilled(path string) error {
	ctx := context.Background()
	state, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	log := state.UsageLog(victimWallet)
	number := uint64(0)
	for record, err := range log.Next(ctx) {
		if err != nil {
			return err
		}
		number = max(number, uint64(record.Time))
	}
	for number++; ; number++ {
		record := policy.Record{Kind: policy.RecordSigned, Wallet: victimWallet, Time: int64(number)}
		if err := log.Append(ctx, record); err != nil {
			return err
		}
		id, _, err := state.ReserveExpense(ctx, victimBudget(keeper.Unlimited-1), 1)
		if err != nil {
			return err
		}
		if id == "" {
			return errors.New("the budget is used up")
		}
		sealed, err := state.SealPrice(ctx, victimNegotiation(number), victimWallet, number)
		if err != nil {
			return err
		}
		fmt.Println(number, solana.Hash(sealed.Commitment()))
	}
}

// killed runs a process that writes, kills it, and returns the commitments of the numbers that it has printed.
func killed(t *testing.T, path string) map[uint64]solana.Hash {
	t.Helper()
	printed := make(map[uint64]solana.Hash)
	program, err := os.Executable()
	require.NoError(t, err)
	victim := exec.CommandContext(t.Context(), program)
	victim.Env = append(os.Environ(), victimPath+"="+path)
	var complaint strings.Builder
	victim.Stderr = &complaint
	output, err := victim.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, victim.Start())
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if len(printed) == 0 {
			time.AfterFunc(time.Duration(rand.IntN(200))*time.Millisecond, func() { _ = victim.Process.Kill() })
		}
		text, commitment, _ := strings.Cut(lines.Text(), " ")
		number, err := strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
		printed[number] = solana.MustHashFromBase58(commitment)
	}
	require.Error(t, victim.Wait())
	require.Empty(t, complaint.String(), "it was to be killed, and not to fail")
	return printed
}

// Nothing that the store has confirmed is lost, and a write that was interrupted is there as a whole or not at
// all.
func TestWritesSurviveKills(t *testing.T) {
	const lives = 8
	path := filepath.Join(t.TempDir(), "state.db")
	confirmed := make(map[uint64]solana.Hash)
	for life := range uint64(lives) {
		printed := killed(t, path)
		maps.Copy(confirmed, printed)
		state, err := sqlite.Open(t.Context(), path)
		require.NoError(t, err)
		requireRecords(t, state, confirmed)
		for number, commitment := range printed {
			n := victimNegotiation(number)
			n.BuyerCommitment = commitment
			sealed, err := state.CommittedPrice(t.Context(), n, victimWallet)
			require.NoError(t, err, "a sealed price is lost")
			require.Equal(t, number, sealed.Price())
		}
		expenses := uint64(len(confirmed))
		require.False(t, hasRoom(t, state, expenses), "an expense is lost")
		// Each killed process can have written one more expense than it has printed.
		require.True(t, hasRoom(t, state, expenses+life+2), "an expense is counted twice")
		require.NoError(t, state.Close())
	}
}

// requireRecords checks that the usage log has all confirmed records, without gaps.
func requireRecords(t *testing.T, state *store.Store, confirmed map[uint64]solana.Hash) {
	t.Helper()
	last := uint64(0)
	for record, err := range state.UsageLog(victimWallet).Next(t.Context()) {
		require.NoError(t, err)
		last++
		require.EqualValues(t, last, record.Time, "the records are without gaps")
	}
	require.LessOrEqual(t, slices.Max(slices.Collect(maps.Keys(confirmed))), last, "a usage record is lost")
}

// hasRoom reports whether a budget with this limit has room for one more expense.
func hasRoom(t *testing.T, state *store.Store, limit uint64) bool {
	t.Helper()
	id, _, err := state.ReserveExpense(t.Context(), victimBudget(limit), 1)
	require.NoError(t, err)
	if id != "" {
		require.NoError(t, state.SettleExpense(t.Context(), id, 0))
	}
	return id != ""
}
