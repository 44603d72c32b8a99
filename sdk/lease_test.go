package haggle

import (
	"context"
	"errors"
	"iter"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// sharedJournal is a memoryJournal in which another process holds the leases.
type sharedJournal struct {
	*memoryJournal
	lock   sync.Mutex
	leased bool
}

func (s *sharedJournal) OpenJournal() Journal { return s }

func (s *sharedJournal) Unfinished(
	ctx context.Context, wallet solana.PublicKey,
) iter.Seq2[JournalEntry, error] {
	return func(yield func(JournalEntry, error) bool) {
		for entry, err := range s.memoryJournal.Unfinished(ctx, wallet) {
			s.lock.Lock()
			entry.Leased = s.leased
			s.lock.Unlock()
			if !yield(entry, err) {
				return
			}
		}
	}
}

func (s *sharedJournal) endLeases() {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.leased = false
}

// besides lets another process of the agent begin an action and hold the lease on it.
func besides(t *testing.T, begin func(a *agent) *Action) (*agent, *sharedJournal, JournalEntry) {
	t.Helper()
	a := newBuyer(t)
	entry := a.abandon(t, begin(a))
	a = a.again(t)
	shared := &sharedJournal{memoryJournal: a.journal, leased: true}
	a.inFlight = newInFlight(shared)
	return a, shared, entry
}

func TestTransactionOfALiveProcessIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _, entry := besides(t, func(a *agent) *Action { return a.pay(t, 1) })
		sent := a.node.called("sendTransaction")
		_, err := a.pay(t, 2).Do(t.Context(), a.me)
		require.NoError(t, err, "another payment does not conflict with it")
		require.Equal(t, sent+1, a.node.called("sendTransaction"))

		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		_, err = a.Recover(ctx, a.me.PublicKey())
		var unresolved *UnresolvedError
		require.ErrorAs(t, err, &unresolved)
		require.Equal(t, entry.Signature, unresolved.Entries[0].Entry.Signature)
		_, err = a.pay(t, 1).Do(ctx, a.me)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))
		assert.Equal(t, sent+1, a.node.called("sendTransaction"))
		_, finished := a.journal.outcome(entry.Signature)
		assert.False(t, finished)
	})
}

func TestSameActionWaitsForAnotherProcess(t *testing.T) {
	for name, returned := range map[string]bool{"that returns its outcome": true, "that does not": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, shared, entry := besides(t, func(a *agent) *Action { return a.pay(t, 1) })
				time.AfterFunc(10*time.Second, func() {
					ctx := context.Background()
					assert.NoError(t, shared.Finish(ctx, entry.Signature, transaction.Confirmed, returned))
				})
				receipt, err := a.pay(t, 1).Do(t.Context(), a.me)
				if returned {
					require.NoError(t, err, "it is a second payment")
					require.NotEqual(t, entry.Signature, receipt.Signature)
					return
				}
				var done *AlreadyDone
				require.ErrorAs(t, err, &done)
				require.Equal(t, entry.Signature, done.Receipt.Signature)
				require.Equal(t, 1, a.journal.begun)
			})
		})
	}
}

func TestTransactionOfADeadProcessIsResolvedAfterItsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, shared, entry := besides(t, func(a *agent) *Action { return a.pay(t, 1) })
		began := time.Now()
		time.AfterFunc(20*time.Second, shared.endLeases)
		recovered, err := a.Recover(t.Context(), a.me.PublicKey())
		require.NoError(t, err)
		require.Len(t, recovered, 1)
		assert.Equal(t, entry.Signature, recovered[0].Entry.Signature)
		assert.Equal(t, transaction.Confirmed, recovered[0].Outcome)
		assert.GreaterOrEqual(t, time.Since(began), 20*time.Second)
	})
}

// Whether or not the first process returned the outcome to its caller, this is the same purchase.
func TestCreationWaitsForAnotherProcess(t *testing.T) {
	for name, killed := range map[string]bool{"that is killed": true, "that returns its outcome": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, shared, entry := besides(t, func(a *agent) *Action {
					action, err := a.create(t, nil)
					require.NoError(t, err)
					return action
				})
				time.AfterFunc(10*time.Second, func() {
					if !killed {
						ctx := context.Background()
						assert.NoError(t, shared.Finish(ctx, entry.Signature, transaction.Confirmed, true))
					}
					shared.endLeases()
				})
				action, err := a.create(t, nil)
				require.NoError(t, err)
				began := time.Now()
				_, err = action.Do(t.Context(), a.me)
				var done *AlreadyDone
				require.ErrorAs(t, err, &done)
				assert.Equal(t, entry.Negotiation, done.Negotiation)
				assert.Equal(t, entry.Signature, done.Receipt.Signature)
				assert.GreaterOrEqual(t, time.Since(began), 10*time.Second)
				assert.Equal(t, 1, a.journal.begun, "no second escrow")
			})
		})
	}
}

// The entry stays unfinished, so a recovery can send the transaction.
func TestRefusalThatTheJournalDoesNotTakeIsUnknown(t *testing.T) {
	a := newBuyer(t)
	taken := errors.New("the lease has ended")
	a.journal.finishFails = taken
	entry := a.abandon(t, a.pay(t, 1))
	err := a.inFlight.end(t.Context(), entry.Signature, unsent(errors.New("refused")), true)
	require.ErrorIs(t, err, taken)
	assert.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))
}
