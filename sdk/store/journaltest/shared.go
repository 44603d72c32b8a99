package journaltest

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// leaseLimit is how long the tests wait for a lease's end.
const leaseLimit = 20 * time.Second

// Run runs all tests. Each store stands for a separate process. In both kinds of stores a lease lasts about a
// second. The leases of stalled are never renewed, as if the process had died.
func Run(t *testing.T, open, stalled Open) {
	run(t, open, commonTests())
	tests := map[string]func(*testing.T, *processes){
		"a lease is of the process that has begun the entry": leasesItsOwn,
		"a lease is renewed as long as the process lives":    renewsLeases,
		"a closed store holds no leases":                     endsLeases,
		"one key is begun once at a time":                    refusesKeys,
		"a confirmed key is not begun again":                 refusesConfirmedKeys,
		"of many that begin one key one succeeds":            beginsKeyOnce,
		"the lease of a dead process ends":                   takesOver,
		"a process without its lease refuses nothing":        keepsRefusalsOut,
		"the unauthorised entry of a dead process ends":      revokesOfTheDead,
		"an entry is either authorised or revoked":           authorizesOrRevokes,
		"the lease between the two steps is not renewed":     revokesUnrenewed,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, &processes{t: t, open: open, stalled: stalled, path: t.TempDir() + "/journal"})
		})
	}
}

// processes use one journal.
type processes struct {
	t             *testing.T
	open, stalled Open
	path          string
}

func (p *processes) start(open Open) *shelf {
	p.t.Helper()
	s := &shelf{t: p.t, open: open, path: p.path}
	s.reopen()
	p.t.Cleanup(s.close)
	return s
}

func (s *shelf) awaitEndOfLease(wallet solana.PublicKey) {
	s.t.Helper()
	ended := func() bool { return !s.unfinished(wallet)[0].Leased }
	require.Eventually(s.t, ended, leaseLimit, 50*time.Millisecond)
}

// leased returns the entry as listed for a client not holding the lease.
func leased(entry haggle.JournalEntry) haggle.JournalEntry {
	entry.Leased = true
	return entry
}

func leasesItsOwn(t *testing.T, p *processes) {
	first, second := p.start(p.open), p.start(p.open)
	one, two := Entry(Wallet(1), 1), Entry(Wallet(1), 2)
	first.begin(one)
	second.begin(two)
	first.has(one, leased(two))
	second.has(leased(one), two)
	require.NoError(t, second.Finish(t.Context(), one.Signature, transaction.Confirmed, false))
	first.has(leased(two))
	second.has(two)
}

func renewsLeases(t *testing.T, p *processes) {
	first, second := p.start(p.open), p.start(p.open)
	entry := Entry(Wallet(1), 1)
	first.begin(entry)
	require.NoError(t, first.Authorize(t.Context(), entry.Signature))
	entry.Authorized = true
	for began := time.Now(); time.Since(began) < 4*time.Second; time.Sleep(100 * time.Millisecond) {
		second.has(leased(entry))
	}
	first.has(entry)
}

func endsLeases(_ *testing.T, p *processes) {
	first, second := p.start(p.open), p.start(p.open)
	entry := Entry(Wallet(1), 1)
	first.begin(entry)
	second.has(leased(entry))
	first.reopen()
	second.has(entry)
	first.has(entry)
}

// sameKey returns another transaction carrying out an entry's action.
func sameKey(entry haggle.JournalEntry, number uint64) haggle.JournalEntry {
	other := Entry(entry.Wallet, number)
	other.Key = entry.Key
	return other
}

func refusesKeys(t *testing.T, p *processes) {
	first, second := p.start(p.open), p.start(p.open)
	entry := Entry(Wallet(1), 1)
	again := sameKey(entry, 2)
	first.begin(entry)
	for _, s := range []*shelf{first, second} {
		require.ErrorIs(t, s.Begin(t.Context(), again), haggle.ErrInJournal)
	}
	ofAnother := Entry(Wallet(2), 3)
	ofAnother.Key = entry.Key
	keyless := Entry(Wallet(1), 4)
	keyless.Key = solana.Hash{}
	keylessToo := Entry(Wallet(1), 5)
	keylessToo.Key = solana.Hash{}
	second.begin(ofAnother, keyless, keylessToo)
	require.NoError(t, first.Finish(t.Context(), entry.Signature, transaction.Expired, true))
	second.begin(again)
	second.has(keyless, keylessToo, again)
}

// A process may find no entry for a key, and then begin an entry when another process has already finished
// one.
func refusesConfirmedKeys(t *testing.T, p *processes) {
	first, second := p.start(p.open), p.start(p.open)
	entry := Entry(Wallet(1), 1)
	first.begin(entry)
	require.NoError(t, first.Finish(t.Context(), entry.Signature, transaction.Confirmed, true))
	require.ErrorIs(t, second.Begin(t.Context(), sameKey(entry, 2)), haggle.ErrInJournal)
	found := second.confirmed(Wallet(1), entry.Key, solana.Hash{})
	require.NotNil(t, found)
	assert.Equal(t, entry.Signature, found.Signature)
}

func beginsKeyOnce(t *testing.T, p *processes) {
	const rivals, rounds = 4, 20
	var stores []*shelf
	for range rivals {
		stores = append(stores, p.start(p.open))
	}
	for round := range uint64(rounds) {
		entry := Entry(Wallet(1), round)
		var begun atomic.Int64
		var running sync.WaitGroup
		for i, store := range stores {
			running.Go(func() {
				err := store.Begin(context.Background(), sameKey(entry, 1_000+round*rivals+uint64(i)))
				if err == nil {
					begun.Add(1)
				} else {
					assert.ErrorIs(t, err, haggle.ErrInJournal)
				}
			})
		}
		running.Wait()
		require.EqualValues(t, 1, begun.Load(), "round %d", round)
	}
}

func takesOver(t *testing.T, p *processes) {
	dead, heir := p.start(p.stalled), p.start(p.open)
	entry := Entry(Wallet(1), 1)
	dead.begin(entry)
	heir.has(leased(entry))
	heir.awaitEndOfLease(Wallet(1))
	require.ErrorIs(t, heir.Begin(t.Context(), sameKey(entry, 2)), haggle.ErrInJournal, "not resolved yet")
	require.NoError(t, heir.Finish(t.Context(), entry.Signature, transaction.Expired, false))
	heir.begin(sameKey(entry, 2))
}

// Once the lease has ended, another process may send the transaction, so it is not certain to be unsent.
func keepsRefusalsOut(t *testing.T, p *processes) {
	slow, heir := p.start(p.stalled), p.start(p.open)
	refused, confirmed := Entry(Wallet(1), 1), Entry(Wallet(1), 2)
	slow.begin(refused, confirmed)
	heir.awaitEndOfLease(Wallet(1))
	require.Error(t, slow.Finish(t.Context(), refused.Signature, transaction.NotSent, true))
	require.NoError(t, slow.Finish(t.Context(), confirmed.Signature, transaction.Confirmed, true))
	heir.has(refused)
	slow.has(refused)
	require.NoError(t, heir.Finish(t.Context(), refused.Signature, transaction.Confirmed, false))
	assert.Empty(t, slow.unfinished(Wallet(1)))
}
