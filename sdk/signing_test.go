package haggle

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// observingSigner records the received outcomes.
type observingSigner struct {
	*wallet.Keypair
	observed func(context.Context, *observingSigner, [sha256.Size]byte)
	lock     sync.Mutex
	outcomes []transaction.Outcome
}

func (o *observingSigner) ObserveOutcome(ctx context.Context, message [sha256.Size]byte) {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.observed(ctx, o, message)
}

// outcomesFrom returns an observer that requests outcomes from the client of the agent.
func outcomesFrom(t *testing.T, a *agent) func(context.Context, *observingSigner, [sha256.Size]byte) {
	return func(ctx context.Context, o *observingSigner, message [sha256.Size]byte) {
		a.journal.lock.Lock()
		entries := slices.Clone(a.journal.entries)
		a.journal.lock.Unlock()
		for _, entry := range entries {
			tx, err := solana.TransactionFromBytes(entry.Transaction)
			require.NoError(t, err)
			encoded, err := tx.Message.MarshalBinary()
			require.NoError(t, err)
			if sha256.Sum256(encoded) != message {
				continue
			}
			// The outcome is known with no request.
			ended, end := context.WithCancel(ctx)
			end()
			_, err = a.Outcome(ended, &transaction.UnknownOutcomeError{Signature: entry.Signature})
			o.outcomes = append(o.outcomes, transaction.OutcomeOf(err))
		}
	}
}

func (o *observingSigner) received() []transaction.Outcome {
	o.lock.Lock()
	defer o.lock.Unlock()
	return slices.Clone(o.outcomes)
}

func TestObserverReceivesLaterOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		a.node.statusOf = confirmedAfter(30 * time.Second)
		signer := &observingSigner{Keypair: a.me, observed: outcomesFrom(t, a)}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := a.pay(t, 1).Do(ctx, signer)
		require.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))
		require.Empty(t, signer.received())

		time.Sleep(time.Minute)
		assert.Equal(t, []transaction.Outcome{transaction.Confirmed}, signer.received())
	})
}

func TestObserverReceivesRecoveredOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		a.abandon(t, a.on(t, solana.PublicKey{1}, 1))
		a = a.restart(t)
		a.node.answers["getSignatureStatuses"] = executed(testSlot)
		signer := &observingSigner{Keypair: a.me, observed: outcomesFrom(t, a)}
		_, err := a.on(t, solana.PublicKey{2}, 2).Do(t.Context(), signer)
		require.NoError(t, err)

		time.Sleep(time.Minute)
		assert.Equal(t, []transaction.Outcome{transaction.Confirmed, transaction.Confirmed}, signer.received())
	})
}

// uncomparableSigner cannot be compared with ==.
type uncomparableSigner struct {
	*observingSigner
	_ []int
}

func TestUncomparableObserverReceivesOutcomes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		a.node.statusOf = confirmedAfter(0)
		signer := uncomparableSigner{observingSigner: &observingSigner{Keypair: a.me, observed: outcomesFrom(t, a)}}
		for i := range 2 {
			_, err := a.pay(t, uint64(i+1)).Do(t.Context(), signer)
			require.NoError(t, err)
		}
		assert.Equal(t, []transaction.Outcome{transaction.Confirmed, transaction.Confirmed}, signer.received())
	})
}

func TestNewestObserverOfAWalletReplacesTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		a.node.statusOf = confirmedAfter(0)
		var signers []*observingSigner
		for i := range 3 {
			signers = append(signers, &observingSigner{Keypair: a.me, observed: outcomesFrom(t, a)})
			_, err := a.pay(t, uint64(i+1)).Do(t.Context(), signers[i])
			require.NoError(t, err)
		}
		for _, signer := range signers {
			assert.Equal(t, []transaction.Outcome{transaction.Confirmed}, signer.received())
		}
	})
}

func TestOutcomeIsKnownOnlyToTheClientThatHasProvenIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, other := newAgent(t, nil), newAgent(t, nil)
		a.node.statusOf = confirmedAfter(0)
		done, err := a.pay(t, 1).Do(t.Context(), a.me)
		require.NoError(t, err)
		ended, end := context.WithCancel(t.Context())
		end()
		unknown := &transaction.UnknownOutcomeError{Signature: done.Signature}
		receipt, err := a.Outcome(ended, unknown)
		require.NoError(t, err)
		assert.Equal(t, done, receipt)
		_, err = other.Outcome(ended, unknown)
		assert.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))
	})
}

// An unsent transaction can still be sent.
func TestUnsentTransactionIsNotSettled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, map[string]func(int) (any, error){
			"sendTransaction": failing(&jsonrpc.RPCError{Code: -32602, Message: "too large"}),
		})
		signer := &observingSigner{Keypair: a.me, observed: outcomesFrom(t, a)}
		_, err := a.pay(t, 1).Do(t.Context(), signer)
		require.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))
		assert.Empty(t, signer.received())
		ended, end := context.WithCancel(t.Context())
		end()
		_, err = a.Outcome(ended, &transaction.UnknownOutcomeError{Signature: a.only(t).Signature})
		assert.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))
	})
}

// A party that signs a transaction paid by another account receives the outcome, too.
func TestObserverOfEachSignerReceivesTheOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		a.node.statusOf = confirmedAfter(0)
		second := &observingSigner{Keypair: newKeypair(t), observed: outcomesFrom(t, a)}
		action := a.NewAction("pay", a.me.PublicKey(),
			system.NewTransferInstruction(1, second.PublicKey(), a.me.PublicKey()).Build())
		_, err := action.Do(t.Context(), a.me, second)
		require.NoError(t, err)
		assert.Equal(t, []transaction.Outcome{transaction.Confirmed}, second.received())
		_, err = a.pay(t, 2).Do(t.Context(), a.me)
		require.NoError(t, err)
		assert.Len(t, second.received(), 1, "a transaction of another account")
	})
}
