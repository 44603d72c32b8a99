package haggle

import (
	"context"
	"encoding/base64"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// In each case an agent is killed and restarted with unchanged intentions.
func TestKilledAgentDoesNothingTwice(t *testing.T) {
	type chain struct {
		// has reports whether the chain executed the transaction by the time of the restart, and resent
		// whether it executes it when it is sent again.
		has, resent bool
		// over reports whether it is no longer valid.
		over bool
	}
	cases := map[string]struct {
		chain
		want transaction.Outcome
		// again reports whether the agent may send a new transaction afterwards.
		again bool
	}{
		"before it was sent, and it can still be": {chain{resent: true}, transaction.Confirmed, false},
		"before it was sent, and it is too late":  {chain{over: true}, transaction.Expired, true},
		"after it was sent, and it was executed":  {chain{has: true}, transaction.Confirmed, false},
		"after it was executed, long ago": {chain{has: true, over: true}, transaction.Confirmed,
			false},
		"after it was sent, and no node forwarded it": {chain{over: true}, transaction.Expired, true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newAgent(t, nil)
				ctx, kill := context.WithCancel(t.Context())
				a.journal.afterAuthorize = kill
				_, err := a.pay(t, 1).Do(ctx, a.me)
				require.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))
				first := a.only(t)
				_, finished := a.journal.outcome(first.Signature)
				require.False(t, finished)

				a = a.restart(t)
				a.journal.afterAuthorize = nil
				resent, sent := 0, make(map[string]int)
				a.node.sent = func(encoded string) {
					sent[encoded]++
					resent += int(boolOf(encoded == base64.StdEncoding.EncodeToString(first.Transaction)))
				}
				a.node.statusOf = func(signature solana.Signature) any {
					if signature != first.Signature || c.has || c.resent && resent > 0 {
						return executedStatus("confirmed", nil)
					}
					return nil
				}
				if c.over {
					a.node.answers["getEpochInfo"] = always(object{"absoluteSlot": testSlot,
						"blockHeight": testLastValid + 1})
					time.Sleep(2 * minimumAge)
				}
				_, err = a.pay(t, 1).Do(t.Context(), a.me)
				outcome, _ := a.journal.outcome(first.Signature)
				assert.Equal(t, c.want, outcome)
				if c.again {
					require.NoError(t, err)
					assert.Len(t, a.journal.entries, 2)
					assert.Len(t, sent, 1, "the first one is not sent again, because it is too late")
				} else {
					var done *AlreadyDone
					require.ErrorAs(t, err, &done)
					assert.Equal(t, first.Signature, done.Receipt.Signature)
					assert.Len(t, a.journal.entries, 1)
					assert.LessOrEqual(t, len(sent), 1)
				}
				assert.Equal(t, a.journal.begun, a.journal.finished)

				// A later process finds nothing to resolve.
				recovered, err := a.restart(t).Recover(t.Context(), a.me.PublicKey())
				require.NoError(t, err)
				assert.Empty(t, recovered)
			})
		})
	}
}

func TestUnknownOutcomeBlocksTheSameAction(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("connection refused")
		a := newAgent(t, map[string]func(int) (any, error){"sendTransaction": failing(down),
			"getSignatureStatuses": failing(down)})
		_, err := a.pay(t, 1).Do(t.Context(), a.me)
		require.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))
		sent := a.node.called("sendTransaction")

		_, err = a.pay(t, 1).Do(t.Context(), a.me)
		var unresolved *UnresolvedError
		require.ErrorAs(t, err, &unresolved)
		require.ErrorIs(t, err, ErrUnresolved)
		assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err), "the new one")
		require.Len(t, unresolved.Entries, 1)
		assert.Equal(t, a.only(t).Signature, unresolved.Entries[0].Entry.Signature)
		assert.Equal(t, transaction.Unknown, unresolved.Entries[0].Outcome)
		assert.Greater(t, a.node.called("sendTransaction"), sent, "the first one is still sent")

		// Another wallet is not affected.
		other := newKeypair(t)
		a.node.answers["getSignatureStatuses"] = executed(testSlot)
		_, err = a.Recover(t.Context(), other.PublicKey())
		require.NoError(t, err)

		// The node responds again.
		_, err = a.pay(t, 1).Do(t.Context(), a.me)
		require.ErrorIs(t, err, ErrAlreadyDone)
		_, err = a.pay(t, 2).Do(t.Context(), a.me)
		require.NoError(t, err)
		assert.Equal(t, 2, a.journal.finished)
	})
}

func TestRecoverReturnsEachOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		for i := range uint64(20) {
			a.abandon(t, a.pay(t, i+1))
		}
		entries := a.journal.entries
		require.Len(t, entries, 20)

		a = a.restart(t)
		failed, lost := entries[3].Signature, entries[7].Signature
		a.node.statusOf = func(signature solana.Signature) any {
			switch signature {
			case failed:
				return executedStatus("confirmed", object{"InstructionError": []any{0, object{"Custom": 1}}})
			case lost:
				return nil
			}
			return executedStatus("confirmed", nil)
		}
		a.node.answers["getEpochInfo"] = always(object{"absoluteSlot": testSlot,
			"blockHeight": testLastValid + 1})
		time.Sleep(2 * minimumAge)
		began := time.Now()
		recovered, err := a.Recover(t.Context(), a.me.PublicKey())
		require.NoError(t, err)
		require.Len(t, recovered, len(entries))
		assert.Less(t, time.Since(began), 10*time.Second)
		for i, one := range recovered {
			assert.Equal(t, entries[i].Signature, one.Entry.Signature, "in their order")
			switch one.Entry.Signature {
			case failed:
				var reason *transaction.Error
				require.ErrorAs(t, one.Err, &reason)
				assert.Equal(t, transaction.Failed, one.Outcome)
			case lost:
				assert.Equal(t, transaction.Expired, one.Outcome)
				require.ErrorIs(t, one.Err, transaction.ErrExpired)
			default:
				assert.Equal(t, transaction.Confirmed, one.Outcome)
				assert.Equal(t, one.Entry.Signature, one.Receipt.Signature)
			}
		}
	})
}

func TestRecoverSkipsTransactionsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, map[string]func(int) (any,
			error){"getSignatureStatuses": always(statuses(testSlot, nil))})
		began := time.Now()
		a.node.statusOf = func(solana.Signature) any {
			if time.Since(began) < 20*time.Second {
				return nil
			}
			return executedStatus("confirmed", nil)
		}
		var running sync.WaitGroup
		for i := range uint64(10) {
			action := a.pay(t, i+1)
			running.Go(func() {
				_, err := action.Do(t.Context(), a.me)
				assert.NoError(t, err)
			})
		}
		synctest.Wait()
		recovered, err := a.Recover(t.Context(), a.me.PublicKey())
		require.NoError(t, err)
		assert.Empty(t, recovered)
		running.Wait()
		assert.Equal(t, 10, a.journal.finished)
		assert.Less(t, time.Since(began), 25*time.Second, "at the same time")
		assert.Empty(t, a.inFlight.flights)
	})
}

func TestNodeWithoutTheBlocksProvesNoExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		ctx, kill := context.WithCancel(t.Context())
		a.journal.afterAuthorize = kill
		_, err := a.pay(t, 1).Do(ctx, a.me)
		require.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))

		// Days later.
		a = a.restart(t)
		a.journal.afterAuthorize = nil
		a.node.answers["getEpochInfo"] = always(object{"absoluteSlot": 9_000_000, "blockHeight": 8_000_000})
		a.node.answers["getSignatureStatuses"] = always(statuses(9_000_000, nil))
		a.node.answers["getFirstAvailableBlock"] = always(8_500_000)
		_, err = a.Recover(t.Context(), a.me.PublicKey())
		require.ErrorIs(t, err, ErrUnresolved)
		require.ErrorContains(t, err, "has deleted the blocks")

		a.node.answers["getFirstAvailableBlock"] = always(testSlot)
		recovered, err := a.Recover(t.Context(), a.me.PublicKey())
		require.NoError(t, err)
		require.Len(t, recovered, 1)
		assert.Equal(t, transaction.Expired, recovered[0].Outcome)
	})
}

func TestRecoverWithoutAJournalIsAnError(t *testing.T) {
	a := newAgent(t, nil)
	a.inFlight = nil
	_, err := a.Recover(t.Context(), a.me.PublicKey())
	require.ErrorIs(t, err, ErrNoJournal)
}

func TestWaitForAConflictEndsWithTheContext(t *testing.T) {
	a := newAgent(t, nil)
	a.abandon(t, a.pay(t, 1))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := a.pay(t, 1).Do(ctx, a.me)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))
	assert.Equal(t, 1, a.journal.begun)
}
