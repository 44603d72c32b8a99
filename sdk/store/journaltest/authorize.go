package journaltest

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// authorized returns the entry as listed once the second step is done.
func authorized(entry haggle.JournalEntry) haggle.JournalEntry {
	entry.Authorized = true
	return entry
}

func authorizes(t *testing.T, s *shelf) {
	entry, other := Entry(Wallet(1), 1), Entry(Wallet(1), 2)
	s.begin(entry, other)
	s.has(entry, other)
	s.reopen()
	s.has(entry, other)
	require.Error(t, s.Authorize(t.Context(), entry.Signature), "the lease ended with the earlier client")
	s.has(entry, other)

	third := Entry(Wallet(1), 3)
	s.begin(third)
	for range 2 {
		require.NoError(t, s.Authorize(t.Context(), third.Signature))
		s.has(entry, other, authorized(third))
	}
	s.reopen()
	s.has(entry, other, authorized(third))
	require.Error(t, s.Authorize(t.Context(), Signature(Wallet(1), 4)), "never begun")
}

func revokes(t *testing.T, s *shelf) {
	entry := Entry(Wallet(1), 1)
	s.begin(entry)
	for range 2 {
		require.NoError(t, s.Revoke(t.Context(), entry.Signature))
		require.Error(t, s.Authorize(t.Context(), entry.Signature))
		assert.Empty(t, s.unfinished(Wallet(1)))
	}
	s.reopen()
	assert.Empty(t, s.unfinished(Wallet(1)))
	require.NoError(t, s.Revoke(t.Context(), Signature(Wallet(1), 2)), "never begun")

	again := sameKey(entry, 3)
	s.begin(again)
	require.NoError(t, s.Authorize(t.Context(), again.Signature))
	require.NoError(t, s.Finish(t.Context(), again.Signature, transaction.NotSent, true))
	s.begin(entry)
	s.has(entry)
}

func refusesRevocation(t *testing.T, s *shelf) {
	entry := Entry(Wallet(1), 1)
	s.begin(entry)
	require.NoError(t, s.Authorize(t.Context(), entry.Signature))
	require.Error(t, s.Revoke(t.Context(), entry.Signature))
	s.has(authorized(entry))
	s.reopen()
	require.Error(t, s.Revoke(t.Context(), entry.Signature))
	s.has(authorized(entry))
	require.NoError(t, s.Finish(t.Context(), entry.Signature, transaction.Confirmed, true))
	require.Error(t, s.Revoke(t.Context(), entry.Signature), "it was sent")
	require.Error(t, s.Finish(t.Context(), entry.Signature, transaction.NotSent, true), "it was sent")
}

var errAfterCommit = errors.New("connection lost after the commit")

// uncertain commits each write and returns an error.
type uncertain struct{ haggle.Journal }

func (u uncertain) Begin(ctx context.Context, entry haggle.JournalEntry) error {
	return errors.Join(u.Journal.Begin(ctx, entry), errAfterCommit)
}

func (u uncertain) Authorize(ctx context.Context, signature solana.Signature) error {
	return errors.Join(u.Journal.Authorize(ctx, signature), errAfterCommit)
}

func (u uncertain) Revoke(ctx context.Context, signature solana.Signature) error {
	return errors.Join(u.Journal.Revoke(ctx, signature), errAfterCommit)
}

func (u uncertain) Finish(
	ctx context.Context, signature solana.Signature, outcome transaction.Outcome, acknowledged bool,
) error {
	return errors.Join(u.Journal.Finish(ctx, signature, outcome, acknowledged), errAfterCommit)
}

// undoesCommits follows a client's steps when writes return errors although they have committed.
func undoesCommits(t *testing.T, s *shelf) {
	ctx, lossy := t.Context(), uncertain{s.Journal}
	entry := Entry(Wallet(1), 1)

	require.ErrorIs(t, lossy.Begin(ctx, entry), errAfterCommit)
	s.has(entry)
	require.ErrorIs(t, lossy.Revoke(ctx, entry.Signature), errAfterCommit)
	require.NoError(t, s.Revoke(ctx, entry.Signature), "a repeated revocation")
	assert.Empty(t, s.unfinished(Wallet(1)))

	s.begin(entry)
	require.ErrorIs(t, lossy.Authorize(ctx, entry.Signature), errAfterCommit)
	s.has(authorized(entry))
	require.Error(t, s.Revoke(ctx, entry.Signature))
	require.ErrorIs(t, lossy.Finish(ctx, entry.Signature, transaction.NotSent, true), errAfterCommit)
	require.NoError(t, s.Finish(ctx, entry.Signature, transaction.NotSent, true), "a repeated record")
	require.Error(t, s.Authorize(ctx, entry.Signature))
	assert.Empty(t, s.unfinished(Wallet(1)))

	s.begin(entry)
	require.NoError(t, s.Authorize(ctx, entry.Signature))
	require.ErrorIs(t, lossy.Finish(ctx, entry.Signature, transaction.Confirmed, true), errAfterCommit)
	require.NoError(t, s.Finish(ctx, entry.Signature, transaction.Failed, true))
	assert.NotNil(t, s.confirmed(Wallet(1), entry.Key, solana.Hash{}), "the first outcome stays")
}

func revokesCancelled(t *testing.T, s *shelf) {
	var left []haggle.JournalEntry
	for i := range uint64(200) {
		entry := Entry(Wallet(1), i)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Duration(rand.Int64N(int64(2*time.Millisecond))), cancel)
		if s.Begin(ctx, entry) == nil {
			left = append(left, entry)
		} else {
			require.NoError(t, s.Revoke(t.Context(), entry.Signature))
		}
		cancel()
	}
	// A database may still commit an entry once it is revoked. Nothing authorizes such entries.
	kept := make(map[solana.Signature]bool)
	for _, entry := range s.unfinished(Wallet(1)) {
		kept[entry.Signature] = true
		require.False(t, entry.Authorized)
		require.NoError(t, s.Revoke(t.Context(), entry.Signature))
		require.Error(t, s.Authorize(t.Context(), entry.Signature))
	}
	for _, entry := range left {
		assert.True(t, kept[entry.Signature])
	}
}

func leasesByClient(t *testing.T, s *shelf) {
	other := &shelf{Journal: s.store.OpenJournal(), t: t}
	begun, sent := Entry(Wallet(1), 1), Entry(Wallet(1), 2)
	s.begin(begun, sent)
	require.NoError(t, s.Authorize(t.Context(), sent.Signature))
	s.has(begun, authorized(sent))
	other.has(leased(begun), leased(authorized(sent)))
	require.Error(t, other.Authorize(t.Context(), begun.Signature))
	require.Error(t, other.Revoke(t.Context(), begun.Signature))
	for _, entry := range []haggle.JournalEntry{begun, sent} {
		require.Error(t, other.Finish(t.Context(), entry.Signature, transaction.NotSent, true))
	}
	s.has(begun, authorized(sent))

	require.NoError(t, s.Close())
	other.has(begun, authorized(sent))
	require.NoError(t, other.Revoke(t.Context(), begun.Signature))
	require.Error(t, other.Revoke(t.Context(), sent.Signature))
	require.Error(t, s.Finish(t.Context(), sent.Signature, transaction.NotSent, true))
	other.has(authorized(sent))
}

func closesClients(t *testing.T, s *shelf) {
	entry := Entry(Wallet(1), 1)
	s.begin(entry)
	for range 2 {
		require.NoError(t, s.Close())
	}
	require.Error(t, s.Authorize(t.Context(), entry.Signature))
	require.Error(t, s.Begin(t.Context(), Entry(Wallet(1), 2)))
	s.has(entry)
	require.NoError(t, s.Finish(t.Context(), entry.Signature, transaction.Confirmed, true))
	assert.Empty(t, s.unfinished(Wallet(1)))
}

// revokesOfTheDead revokes the entry of a process killed between the two steps.
func revokesOfTheDead(t *testing.T, p *processes) {
	dead, heir := p.start(p.stalled), p.start(p.open)
	entry := Entry(Wallet(1), 1)
	dead.begin(entry)
	heir.has(leased(entry))
	heir.awaitEndOfLease(Wallet(1))
	heir.has(entry)
	require.Error(t, dead.Authorize(t.Context(), entry.Signature))
	require.Error(t, heir.Authorize(t.Context(), entry.Signature), "it has not begun the entry")
	require.NoError(t, heir.Revoke(t.Context(), entry.Signature))
	require.Error(t, dead.Authorize(t.Context(), entry.Signature))
	heir.begin(sameKey(entry, 2))
}

// revokesUnrenewed revokes an entry that a live process has begun but not authorized.
func revokesUnrenewed(t *testing.T, p *processes) {
	idle, other := p.start(p.open), p.start(p.open)
	entry := Entry(Wallet(1), 1)
	idle.begin(entry)
	other.has(leased(entry))
	other.awaitEndOfLease(Wallet(1))
	require.NoError(t, other.Revoke(t.Context(), entry.Signature))
	require.Error(t, idle.Authorize(t.Context(), entry.Signature))
}

// authorizesOrRevokes lets a slow client authorize entries while others revoke them. The leases have ended,
// but no client has taken them yet.
func authorizesOrRevokes(t *testing.T, p *processes) {
	slow, heir := p.start(p.stalled), p.start(p.open)
	var entries []haggle.JournalEntry
	for i := range uint64(40) {
		entry := Entry(Wallet(i), i)
		slow.begin(entry)
		entries = append(entries, entry)
	}
	time.Sleep(2 * time.Second) // twice a lease's length
	for _, entry := range entries {
		var authorized, revoked error
		var running sync.WaitGroup
		running.Go(func() { authorized = slow.Authorize(context.Background(), entry.Signature) })
		running.Go(func() { revoked = heir.Revoke(context.Background(), entry.Signature) })
		running.Wait()
		require.NotEqual(t, authorized == nil, revoked == nil, "authorised: %v, revoked: %v", authorized, revoked)
	}
}
