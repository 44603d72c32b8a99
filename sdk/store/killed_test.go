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
	"github.com/haggle-protocol/haggle/sdk/store/journaltest"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// victimPath is the database written to by a process of TestWritesSurviveKills until it is killed.
const victimPath = "HAGGLE_STORETEST_PATH"

// victimWallet is the wallet of all writes.
var victimWallet = solana.PublicKey{7}

// victimBudget is the budget for all expenses, one lamport each.
func victimBudget(limit uint64) keeper.Budget {
	return keeper.Budget{Wallet: victimWallet, Name: "urgent", Limit: limit}
}

// victimNegotiation is a sealed price's negotiation.
func victimNegotiation(number uint64) *haggle.Snapshot {
	n := &haggle.Snapshot{Address: solana.PublicKey{8}}
	n.Buyer, n.CreatedAt, n.EscrowAmount, n.ZopaEnabled = victimWallet, int64(number), 5_000_000, true
	return n
}

// writeUntilKilled writes a usage record, an expense, a sealed price and a journal entry for each number not
// used by an earlier process. It prints the number and the price's commitment when the store has confirmed
// all.
func writeUntilKilled(path string) error {
	ctx := context.Background()
	state, err := sqlite.Open(ctx, path)
	if err != nil {
		return err
	}
	entries, log := state.OpenJournal(), state.UsageLog(victimWallet)
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
		if err := writeEntry(ctx, entries, number); err != nil {
			return err
		}
		fmt.Println(number, solana.Hash(sealed.Commitment()))
	}
}

// writeEntry begins the entry for a number. It authorizes the entries of every third number, and finishes the
// entries of every other third.
func writeEntry(ctx context.Context, entries haggle.Journal, number uint64) error {
	entry := journaltest.Entry(victimWallet, number)
	if err := entries.Begin(ctx, entry); err != nil || number%3 == 0 {
		return err
	}
	if err := entries.Authorize(ctx, entry.Signature); err != nil || number%3 == 1 {
		return err
	}
	return entries.Finish(ctx, entry.Signature, transaction.Confirmed, true)
}

// killed starts a writing process, kills it, and returns the commitments of the printed numbers.
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

// Nothing confirmed by the store is lost, and an interrupted write is either complete or absent.
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
		requireEntries(t, state, confirmed)
		for number, commitment := range printed {
			n := victimNegotiation(number)
			n.BuyerCommitment = commitment
			sealed, err := state.CommittedPrice(t.Context(), n, victimWallet)
			require.NoError(t, err, "a sealed price is lost")
			require.Equal(t, number, sealed.Price())
		}
		expenses := uint64(len(confirmed))
		require.False(t, hasRoom(t, state, expenses), "an expense is lost")
		// Each killed process may have written one expense more than it printed.
		require.True(t, hasRoom(t, state, expenses+life+2), "an expense is counted twice")
		require.NoError(t, state.Close())
	}
}

// requireRecords checks that the usage log contains all confirmed records, without gaps.
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

// requireEntries checks that the journal contains all confirmed entries as they were written.
func requireEntries(t *testing.T, state *store.Store, confirmed map[uint64]solana.Hash) {
	t.Helper()
	found, err := journaltest.Unfinished(t.Context(), state.OpenJournal(), victimWallet)
	require.NoError(t, err)
	unfinished := make(map[uint64]haggle.JournalEntry)
	for _, entry := range found {
		entry.Leased = false // a killed process's lease ends later
		unfinished[entry.SessionID] = entry
	}
	for number := range confirmed {
		entry, isUnfinished := unfinished[number]
		require.Equal(t, number%3 != 2, isUnfinished, "entry %d", number)
		if isUnfinished {
			want := journaltest.Entry(victimWallet, number)
			want.Authorized = number%3 == 1
			require.Equal(t, want, entry)
		}
	}
}

// hasRoom reports whether a budget with this limit allows one more expense.
func hasRoom(t *testing.T, state *store.Store, limit uint64) bool {
	t.Helper()
	id, _, err := state.ReserveExpense(t.Context(), victimBudget(limit), 1)
	require.NoError(t, err)
	if id != "" {
		require.NoError(t, state.SettleExpense(t.Context(), id, 0))
	}
	return id != ""
}
