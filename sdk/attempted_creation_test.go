package haggle

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// expireAll makes the node show every transaction as expired.
func (a *agent) expireAll() {
	a.node.statusOf = func(solana.Signature) any { return nil }
	a.node.answers["getEpochInfo"] = always(object{"absoluteSlot": testSlot, "blockHeight": testLastValid + 1})
}

// attempt creates a negotiation with fixed terms, and returns the session id.
func (a *agent) attempt(t *testing.T) (uint64, error) {
	t.Helper()
	action, err := a.create(t, nil)
	if err != nil {
		return 0, err
	}
	_, err = action.Do(t.Context(), a.me)
	return action.Creation.SessionID, err
}

func TestRepeatedCreationUsesTheSessionOfTheExpiredOne(t *testing.T) {
	for name, journal := range map[string]bool{"with a journal": true, "without a journal": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newBuyer(t)
				if !journal {
					a.inFlight = nil
				}
				a.expireAll()
				first, err := a.attempt(t)
				require.ErrorIs(t, err, transaction.ErrExpired)
				for range 3 {
					again, err := a.attempt(t)
					require.ErrorIs(t, err, transaction.ErrExpired)
					require.Equal(t, first, again)
				}

				// Another purchase is not the same intent.
				other, err := a.create(t, func(r *CreateRequest) { r.EscrowAmount++ })
				require.NoError(t, err)
				assert.NotEqual(t, first, other.Creation.SessionID)

				// A confirmed purchase is done. The next purchase on these terms is new.
				a.node.statusOf = func(solana.Signature) any { return executedStatus("confirmed", nil) }
				a.node.transaction = nil
				again, err := a.attempt(t)
				require.Equal(t, transaction.Confirmed, transaction.OutcomeOf(err), "%v", err)
				require.Equal(t, first, again)
				next, err := a.attempt(t)
				require.Equal(t, transaction.Confirmed, transaction.OutcomeOf(err), "%v", err)
				assert.NotEqual(t, first, next)
			})
		})
	}
}

// The node lied: the chain executed the creation.
func TestExecutedCreationThatANodeCalledExpiredIsReported(t *testing.T) {
	for name, journal := range map[string]bool{"with a journal": true, "without a journal": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newBuyer(t)
				if !journal {
					a.inFlight = nil
				}
				a.expireAll()
				action, err := a.create(t, nil)
				require.NoError(t, err)
				_, err = action.Do(t.Context(), a.me)
				require.ErrorIs(t, err, transaction.ErrExpired)

				created := &protocol.Negotiation{Buyer: a.me.PublicKey(), Seller: testSeller,
					Version: protocol.NegotiationVersion}
				a.node.accounts[action.Negotiation] = answerOf(protocol.ProgramID, 1, created.Encode())
				sent := a.node.called("sendTransaction")
				_, err = a.attempt(t)
				var done *AlreadyDone
				require.ErrorAs(t, err, &done)
				assert.Equal(t, action.Negotiation, done.Negotiation)
				require.NotNil(t, done.Now)

				// If it is closed already, just the history is left.
				delete(a.node.accounts, action.Negotiation)
				a.attempts.record(&preparedTx{action: action.Name, intent: action.intent,
					negotiation: action.Negotiation, sessionID: action.Creation.SessionID}, transaction.Expired)
				a.node.list = func(rpc.M) any {
					return []any{object{"signature": solana.Signature{1}.String(), "slot": testSlot}}
				}
				_, err = a.attempt(t)
				var used *SessionUsedError
				require.ErrorAs(t, err, &used)
				assert.Equal(t, action.Negotiation, used.Negotiation)
				assert.Equal(t, sent, a.node.called("sendTransaction"), "no second escrow")
			})
		})
	}
}

// A restarted client knows just the journal.
func TestRestartedClientUsesTheSessionOfTheExpiredCreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newBuyer(t)
		restart := func() { a.attempts = newAttemptedCreations() }
		a.expireAll()
		first, err := a.attempt(t)
		require.ErrorIs(t, err, transaction.ErrExpired)
		restart()
		again, err := a.attempt(t)
		require.ErrorIs(t, err, transaction.ErrExpired)
		require.Equal(t, first, again)

		// The chain executed it.
		restart()
		negotiation, _, err := protocol.FindNegotiationAddress(a.me.PublicKey(), testSeller, first)
		require.NoError(t, err)
		created := &protocol.Negotiation{Buyer: a.me.PublicKey(), Seller: testSeller, Version: protocol.NegotiationVersion}
		a.node.accounts[negotiation] = answerOf(protocol.ProgramID, 1, created.Encode())
		_, err = a.attempt(t)
		var done *AlreadyDone
		require.ErrorAs(t, err, &done)
		assert.Equal(t, negotiation, done.Negotiation)
		next, err := a.attempt(t)
		require.ErrorIs(t, err, transaction.ErrExpired)
		assert.NotEqual(t, first, next, "the second purchase of this process")

		// A day later the same terms are a new purchase.
		delete(a.node.accounts, negotiation)
		time.Sleep(attemptedWithin + time.Second)
		restart()
		later, err := a.attempt(t)
		require.ErrorIs(t, err, transaction.ErrExpired)
		assert.NotEqual(t, next, later)
	})
}

func TestJournalErrorPreventsACreation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newBuyer(t)
		a.inFlight.journal = attemptsUnreadable{a.inFlight.journal}
		_, err := a.attempt(t)
		var failed *JournalError
		require.ErrorAs(t, err, &failed)
		assert.Equal(t, journalAttempted, failed.Op)
		assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))
		assert.Zero(t, a.node.called("sendTransaction"))
	})
}

// attemptsUnreadable is a journal that returns no attempted creation.
type attemptsUnreadable struct{ Journal }

func (attemptsUnreadable) Attempted(
	context.Context, solana.PublicKey, solana.Hash, time.Time,
) (*JournalEntry, error) {
	return nil, errors.New("disk failure")
}
