// Package journaltest tests a [haggle.JournalStore]: accepted entries survive in order, refused entries are
// absent, and no entry authorizes a transaction reported as not sent.
//
//	func TestStore(t *testing.T) {
//		journaltest.Run(t, open, openStalled)
//	}
package journaltest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Store is a store that can be closed and opened again.
type Store interface {
	haggle.JournalStore
	io.Closer
}

// Open opens the store at a path, in a directory that exists. If there is none, it creates one.
type Open func(t *testing.T, path string) (Store, error)

func commonTests() map[string]func(*testing.T, *shelf) {
	return map[string]func(*testing.T, *shelf){
		"an entry comes back as it was begun":               comesBack,
		"entries survive the end of the process":            survives,
		"what is finished is not there any more":            finishedIsGone,
		"finishing again, or what is not there, is nothing": finishesOnce,
		"the order is that of the beginnings":               keepsOrder,
		"wallets do not see each other":                     keepsWalletsApart,
		"an unfinished signature is not begun again":        refusesTwice,
		"what is finished can be begun again":               beginsAgain,
		"what cannot be resolved later is refused":          refusesUseless,
		"an outcome that is not final finishes nothing":     refusesOpenOutcome,
		"an ended context changes nothing":                  heedsContext,
		"many at once are all kept":                         keepsMany,
		"reading can be given up":                           canBeGivenUp,
		"a closed journal takes nothing":                    staysClosed,
		"a confirmed key is found for ever":                 findsKeys,
		"a confirmed intent is found until acknowledged":    findsIntents,
		"an entry is authorised by its second step only":    authorizes,
		"a revoked entry cannot be authorised":              revokes,
		"an authorised entry cannot be revoked":             refusesRevocation,
		"a write that fails after its commit is undone":     undoesCommits,
		"a cancelled beginning is revoked":                  revokesCancelled,
		"a client's lease is hidden from no other client":   leasesByClient,
		"a closed client authorises nothing":                closesClients,
	}
}

func run(t *testing.T, open Open, tests map[string]func(*testing.T, *shelf)) {
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := &shelf{t: t, open: open, path: filepath.Join(t.TempDir(), "journal")}
			s.reopen()
			t.Cleanup(s.close)
			test(t, s)
		})
	}
}

// shelf is one client's journal in a store that can be opened again.
type shelf struct {
	haggle.Journal
	t     *testing.T
	store Store
	open  Open
	path  string
}

func (s *shelf) reopen() {
	s.t.Helper()
	s.close()
	store, err := s.open(s.t, s.path)
	require.NoError(s.t, err)
	s.store, s.Journal = store, store.OpenJournal()
}

// close closes the store, if it is open.
func (s *shelf) close() {
	s.t.Helper()
	if s.store != nil {
		require.NoError(s.t, s.store.Close())
	}
}

func (s *shelf) begin(entries ...haggle.JournalEntry) {
	s.t.Helper()
	for _, entry := range entries {
		require.NoError(s.t, s.Begin(s.t.Context(), entry))
	}
}

func (s *shelf) has(entries ...haggle.JournalEntry) {
	s.t.Helper()
	require.NotEmpty(s.t, entries)
	assert.Equal(s.t, entries, s.unfinished(entries[0].Wallet))
}

func (s *shelf) unfinished(wallet solana.PublicKey) []haggle.JournalEntry {
	s.t.Helper()
	found, err := Unfinished(s.t.Context(), s.Journal, wallet)
	require.NoError(s.t, err)
	return found
}

// Unfinished returns a wallet's unfinished entries.
func Unfinished(ctx context.Context, journal haggle.Journal, wallet solana.PublicKey) ([]haggle.JournalEntry, error) {
	var found []haggle.JournalEntry
	for entry, err := range journal.Unfinished(ctx, wallet) {
		if err != nil {
			return found, err
		}
		found = append(found, entry)
	}
	return found, nil
}

// Entry returns a wallet's entry with all fields set. Two entries with the same wallet and number are equal.
func Entry(wallet solana.PublicKey, number uint64) haggle.JournalEntry {
	return haggle.JournalEntry{
		Wallet:               wallet,
		Action:               "submit_offer",
		Negotiation:          key("negotiation", number),
		Intent:               solana.Hash(key("intent", number)),
		Signature:            Signature(wallet, number),
		Blockhash:            solana.Hash(key("blockhash", number)),
		LastValidBlockHeight: 1<<63 + number,
		SessionID:            number,
		Key:                  solana.Hash(key("key", number)),
		Nonce:                key("nonce", number),
		Slot:                 number,
		Commitment:           rpc.CommitmentFinalized,
		Transaction:          fmt.Appendf(nil, "transaction %d\x00", number),
		Begun:                time.Unix(1_700_000_000, 123_456_789).UTC().Add(time.Duration(number)),
	}
}

// Signature returns the signature of [Entry].
func Signature(wallet solana.PublicKey, number uint64) solana.Signature {
	first, second := key("first half", number), key("second half", number)
	signature := solana.Signature(append(first[:], second[:]...))
	signature[0], signature[1] = wallet[0], wallet[1]
	return signature
}

// Wallet returns a wallet's address, which is different for each number.
func Wallet(number uint64) solana.PublicKey { return key("wallet", number) }

func key(name string, number uint64) solana.PublicKey {
	address, err := solana.CreateWithSeed(solana.SystemProgramID, fmt.Sprintf("%s %d", name, number), system.ProgramID)
	if err != nil {
		panic(err) // the seed is too long
	}
	return address
}

func comesBack(t *testing.T, s *shelf) {
	full := Entry(Wallet(1), 1)
	least := haggle.JournalEntry{
		Wallet: Wallet(1), Signature: Signature(Wallet(1), 2), Transaction: []byte{0},
	}
	s.begin(full, least)
	s.has(full, least)

	// A change of the caller's copy does not change the entry in the store.
	full.Transaction[0] = 'X'
	for _, entry := range s.unfinished(Wallet(1)) {
		assert.NotEqual(t, byte('X'), entry.Transaction[0])
		entry.Transaction[0] = 'Y'
	}
	for _, entry := range s.unfinished(Wallet(1)) {
		assert.NotEqual(t, byte('Y'), entry.Transaction[0])
	}
}

func survives(_ *testing.T, s *shelf) {
	first, second, third := Entry(Wallet(1), 1), Entry(Wallet(1), 2), Entry(Wallet(1), 3)
	s.begin(first, second)
	s.reopen()
	s.has(first, second)
	s.begin(third)
	s.reopen()
	s.has(first, second, third)
}

func finishedIsGone(t *testing.T, s *shelf) {
	outcomes := []transaction.Outcome{transaction.Confirmed, transaction.Failed, transaction.Expired, transaction.NotSent}
	for i, outcome := range outcomes {
		s.begin(Entry(Wallet(1), uint64(i)))
		require.NoError(t, s.Finish(t.Context(), Signature(Wallet(1), uint64(i)), outcome, true))
	}
	left := Entry(Wallet(1), 10)
	s.begin(left)
	s.has(left)
	s.reopen()
	s.has(left)
	require.NoError(t, s.Finish(t.Context(), left.Signature, transaction.Confirmed, true))
	s.reopen()
	assert.Empty(t, s.unfinished(Wallet(1)))
}

func finishesOnce(t *testing.T, s *shelf) {
	entry := Entry(Wallet(1), 1)
	require.NoError(t, s.Finish(t.Context(), entry.Signature, transaction.Confirmed, true), "never begun")
	s.begin(entry)
	s.has(entry)
	for range 2 {
		require.NoError(t, s.Finish(t.Context(), entry.Signature, transaction.Confirmed, true))
	}
	s.reopen()
	require.NoError(t, s.Finish(t.Context(), entry.Signature, transaction.Failed, true))
	assert.Empty(t, s.unfinished(Wallet(1)))
}

func keepsOrder(t *testing.T, s *shelf) {
	var entries []haggle.JournalEntry
	for i := range uint64(20) {
		// The order does not depend on the times: a machine's clock can be set back.
		entry := Entry(Wallet(1), 100-i)
		entries = append(entries, entry)
		s.begin(entry)
	}
	require.NoError(t, s.Finish(t.Context(), entries[7].Signature, transaction.Expired, true))
	entries = append(entries[:7], entries[8:]...)
	s.has(entries...)
	s.reopen()
	s.has(entries...)
}

func keepsWalletsApart(t *testing.T, s *shelf) {
	s.begin(Entry(Wallet(1), 1), Entry(Wallet(2), 2), Entry(Wallet(1), 3))
	s.has(Entry(Wallet(1), 1), Entry(Wallet(1), 3))
	s.has(Entry(Wallet(2), 2))
	assert.Empty(t, s.unfinished(Wallet(3)))
}

func refusesTwice(t *testing.T, s *shelf) {
	entry := Entry(Wallet(1), 1)
	s.begin(entry)
	require.ErrorIs(t, s.Begin(t.Context(), entry), haggle.ErrInJournal)
	s.reopen()
	require.ErrorIs(t, s.Begin(t.Context(), entry), haggle.ErrInJournal)
	s.has(entry)
}

func beginsAgain(t *testing.T, s *shelf) {
	again, other := Entry(Wallet(1), 1), Entry(Wallet(1), 2)
	s.begin(again, other)
	require.NoError(t, s.Finish(t.Context(), again.Signature, transaction.NotSent, true))
	again.Slot++
	s.begin(again)
	s.has(other, again)
	s.reopen()
	s.has(other, again)
}

func refusesUseless(t *testing.T, s *shelf) {
	for _, spoil := range []func(*haggle.JournalEntry){
		func(e *haggle.JournalEntry) { e.Wallet = solana.PublicKey{} },
		func(e *haggle.JournalEntry) { e.Signature = solana.Signature{} },
		func(e *haggle.JournalEntry) { e.Transaction = nil },
	} {
		entry := Entry(Wallet(1), 1)
		spoil(&entry)
		require.Error(t, s.Begin(t.Context(), entry))
	}
	s.reopen()
	assert.Empty(t, s.unfinished(Wallet(1)))
}

func refusesOpenOutcome(t *testing.T, s *shelf) {
	entry := Entry(Wallet(1), 1)
	s.begin(entry)
	require.Error(t, s.Finish(t.Context(), entry.Signature, transaction.Unknown, true))
	require.Error(t, s.Finish(t.Context(), entry.Signature, transaction.Outcome(99), true))
	s.reopen()
	s.has(entry)
}

func heedsContext(t *testing.T, s *shelf) {
	ended, end := context.WithCancel(t.Context())
	end()
	entry := Entry(Wallet(1), 1)
	require.ErrorIs(t, s.Begin(ended, entry), context.Canceled)
	s.begin(entry)
	require.ErrorIs(t, s.Authorize(ended, entry.Signature), context.Canceled)
	require.ErrorIs(t, s.Finish(ended, entry.Signature, transaction.Confirmed, true), context.Canceled)
	_, err := Unfinished(ended, s.Journal, Wallet(1))
	require.ErrorIs(t, err, context.Canceled)
	s.has(entry)
}

func keepsMany(t *testing.T, s *shelf) {
	const writers, each = 8, 25
	var running sync.WaitGroup
	for writer := range uint64(writers) {
		running.Go(func() {
			wallet := Wallet(writer)
			for i := range uint64(each) {
				if !assert.NoError(t, s.Begin(t.Context(), Entry(wallet, i))) {
					return
				}
				if i%3 > 0 {
					assert.NoError(t, s.Finish(t.Context(), Signature(wallet, i), transaction.Confirmed, true))
				}
				_, err := Unfinished(t.Context(), s.Journal, wallet)
				assert.NoError(t, err)
			}
		})
	}
	running.Wait()
	s.reopen()
	for writer := range uint64(writers) {
		var left []haggle.JournalEntry
		for i := uint64(0); i < each; i += 3 {
			left = append(left, Entry(Wallet(writer), i))
		}
		s.has(left...)
	}
}

func canBeGivenUp(t *testing.T, s *shelf) {
	s.begin(Entry(Wallet(1), 1), Entry(Wallet(1), 2))
	for entry, err := range s.Unfinished(t.Context(), Wallet(1)) {
		require.NoError(t, err)
		// A reader may write.
		require.NoError(t, s.Finish(t.Context(), entry.Signature, transaction.Confirmed, true))
		break
	}
	s.has(Entry(Wallet(1), 2))
}

func staysClosed(t *testing.T, s *shelf) {
	s.begin(Entry(Wallet(1), 1))
	s.close()
	s.close()
	require.Error(t, s.Begin(t.Context(), Entry(Wallet(1), 2)))
	require.Error(t, s.Finish(t.Context(), Signature(Wallet(1), 1), transaction.Confirmed, true))
	_, err := Unfinished(t.Context(), s.Journal, Wallet(1))
	require.Error(t, err)
	require.False(t, errors.Is(err, context.Canceled))
	s.reopen()
	s.has(Entry(Wallet(1), 1))
}

func (s *shelf) confirmed(wallet solana.PublicKey, key, intent solana.Hash) *haggle.JournalEntry {
	s.t.Helper()
	found, err := s.Confirmed(s.t.Context(), wallet, key, intent)
	require.NoError(s.t, err)
	return found
}

func findsKeys(t *testing.T, s *shelf) {
	entry, other := Entry(Wallet(1), 1), Entry(Wallet(1), 2)
	s.begin(entry, other)
	assert.Nil(t, s.confirmed(Wallet(1), entry.Key, solana.Hash{}), "it is unfinished")
	require.NoError(t, s.Finish(t.Context(), entry.Signature, transaction.Confirmed, true))
	require.NoError(t, s.Finish(t.Context(), other.Signature, transaction.Expired, true))
	for range 2 {
		found := s.confirmed(Wallet(1), entry.Key, solana.Hash{})
		require.NotNil(t, found)
		assert.Equal(t, entry.Signature, found.Signature)
		assert.Equal(t, entry.Negotiation, found.Negotiation)
		assert.Equal(t, entry.Action, found.Action)
		assert.Equal(t, entry.SessionID, found.SessionID)
		assert.Equal(t, entry.Commitment, found.Commitment)
		assert.Nil(t, s.confirmed(Wallet(1), other.Key, other.Intent), "it has expired")
		assert.Nil(t, s.confirmed(Wallet(2), entry.Key, solana.Hash{}), "of another wallet")
		assert.Nil(t, s.confirmed(Wallet(1), solana.Hash{}, solana.Hash{}))
		assert.Nil(t, s.confirmed(Wallet(1), solana.Hash{}, entry.Intent), "it is acknowledged")
		s.reopen()
	}
}

func findsIntents(t *testing.T, s *shelf) {
	first, second := Entry(Wallet(1), 1), Entry(Wallet(1), 2)
	second.Intent = first.Intent
	s.begin(first, second)
	for _, entry := range []haggle.JournalEntry{second, first} {
		require.NoError(t, s.Finish(t.Context(), entry.Signature, transaction.Confirmed, false))
	}
	s.reopen()
	left := make(map[solana.Signature]bool)
	for range 2 {
		found := s.confirmed(Wallet(1), solana.Hash{9}, first.Intent)
		require.NotNil(t, found)
		left[found.Signature] = true
		require.NoError(t, s.Finish(t.Context(), found.Signature, transaction.Confirmed, true))
		s.reopen()
	}
	assert.Len(t, left, 2)
	assert.Nil(t, s.confirmed(Wallet(1), solana.Hash{9}, first.Intent))
	assert.NotNil(t, s.confirmed(Wallet(1), second.Key, solana.Hash{}), "the key is found all the same")
}
