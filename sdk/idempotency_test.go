package haggle

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// on returns a payment that counts as an action on a negotiation.
func (a *agent) on(t *testing.T, negotiation solana.PublicKey, lamports uint64) *Action {
	t.Helper()
	action := a.pay(t, lamports)
	action.Negotiation = negotiation
	return action
}

// again returns the agent as restarted, with a chain that executed the agent's earlier transactions and
// executes new transactions.
func (a *agent) again(t *testing.T) *agent {
	t.Helper()
	next := a.restart(t)
	next.becomesBuyer(t)
	next.journal.afterAuthorize = nil
	next.node.answers["getSignatureStatuses"] = executed(testSlot)
	return next
}

// interrupted creates a negotiation; the agent is killed when the creation is in the journal.
func (a *agent) interrupted(t *testing.T, send func(context.Context, *Action) error) {
	t.Helper()
	action, err := a.create(t, nil)
	require.NoError(t, err)
	ctx, kill := context.WithCancel(t.Context())
	a.journal.afterAuthorize = kill
	require.Equal(t, transaction.Unknown, transaction.OutcomeOf(send(ctx, action)))
	require.Len(t, a.journal.entries, 1)
}

func TestRecoveredCreationIsNotRepeated(t *testing.T) {
	do := func(a *agent) func(context.Context, *Action) error {
		return func(ctx context.Context, action *Action) error {
			_, err := action.Do(ctx, a.me)
			return err
		}
	}
	submit := func(a *agent) func(context.Context, *Action) error {
		return func(ctx context.Context, action *Action) error {
			tx, err := action.Transaction(context.WithoutCancel(ctx))
			if err != nil {
				return err
			}
			if err := send.Sign(context.WithoutCancel(ctx), tx, []Signer{a.me}); err != nil {
				return err
			}
			_, err = a.Submit(ctx, tx)
			return err
		}
	}
	for name, send := range map[string]func(*agent) func(context.Context, *Action) error{"done": do,
		"submitted": submit} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newBuyer(t)
				a.interrupted(t, send(a))
				first := a.only(t)
				a = a.again(t)
				recovered, err := a.Recover(t.Context(), a.me.PublicKey())
				require.NoError(t, err)
				require.Len(t, recovered, 1)
				require.Equal(t, transaction.Confirmed, recovered[0].Outcome)

				// Another process called Recover. The buyer lost all state, and repeats the purchase.
				a = a.again(t)
				second, err := a.create(t, nil)
				require.NoError(t, err)
				err = send(a)(t.Context(), second)
				var done *AlreadyDone
				require.ErrorAs(t, err, &done)
				assert.Equal(t, first.Negotiation, done.Negotiation)
				require.NotNil(t, done.Receipt)
				assert.Equal(t, first.Signature, done.Receipt.Signature)
				assert.Equal(t, 1, a.journal.begun, "no second escrow")
			})
		})
	}
}

func TestKeyIsExecutedOnce(t *testing.T) {
	a := newBuyer(t)
	a.node.answers["getSignatureStatuses"] = executed(testSlot)
	named := func(r *CreateRequest) { r.Key = "order 1234" }
	action, err := a.create(t, named)
	require.NoError(t, err)
	assert.Equal(t, SessionIDFor("order 1234"), action.Creation.SessionID)
	receipt, err := action.Do(t.Context(), a.me)
	require.NoError(t, err)
	for range 3 {
		_, err = action.Do(t.Context(), a.me)
		var done *AlreadyDone
		require.ErrorAs(t, err, &done, "the same action")
		assert.Equal(t, receipt.Signature, done.Receipt.Signature)
		a = a.restart(t)
		a.becomesBuyer(t, action.Negotiation)
		a.node.answers["getSignatureStatuses"] = executed(testSlot)
		action, err = a.create(t, named)
		require.NoError(t, err, "the journal knows it, though the session has been used")
		tx, err := action.Transaction(t.Context())
		require.NoError(t, err)
		require.NoError(t, send.Sign(t.Context(), tx, []Signer{a.me}))
		_, err = a.Submit(t.Context(), tx)
		require.ErrorAs(t, err, &done, "a prepared transaction")
		assert.Equal(t, receipt.Signature, done.Receipt.Signature)
	}
	other, err := newBuyerLike(t, a).create(t, func(r *CreateRequest) { r.Key = "order 1235" })
	require.NoError(t, err)
	assert.NotEqual(t, action.Negotiation, other.Negotiation)
	assert.Equal(t, 1, a.journal.begun)
}

func newBuyerLike(t *testing.T, a *agent) *agent {
	t.Helper()
	next := a.restart(t)
	next.becomesBuyer(t)
	return next
}

func TestConcurrentCallsSendAnActionOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newBuyer(t)
		a.node.statusOf = confirmedAfter(3 * time.Second)
		var outcomes sync.Map
		var running sync.WaitGroup
		for i := range 5 {
			action, err := a.create(t, func(r *CreateRequest) { r.Key = "order 1234" })
			require.NoError(t, err)
			running.Go(func() {
				_, err := action.Do(t.Context(), a.me)
				outcomes.Store(i, transaction.OutcomeOf(err))
			})
		}
		running.Wait()
		outcomes.Range(func(_, outcome any) bool {
			return assert.Contains(t, []transaction.Outcome{transaction.Confirmed, transaction.NotSent}, outcome)
		})
		assert.Equal(t, 1, a.journal.begun)
	})
}

// The node did not execute the first transaction and returns no status.
func TestUnknownOutcomeBlocksOnlyItsNegotiation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		mine, other := solana.PublicKey{1}, solana.PublicKey{2}
		left := a.abandon(t, a.on(t, mine, 1))
		a = a.restart(t)
		began := time.Now()
		a.node.statusOf = func(signature solana.Signature) any {
			if signature == left.Signature && time.Since(began) < 58*time.Second {
				return nil
			}
			return executedStatus("confirmed", nil)
		}
		_, err := a.on(t, other, 2).Do(t.Context(), a.me)
		require.NoError(t, err)
		require.Less(t, time.Since(began), time.Second, "at once")

		_, err = a.on(t, mine, 3).Do(t.Context(), a.me)
		require.NoError(t, err)
		require.Greater(t, time.Since(began), 57*time.Second, "after the outcome was known")
		outcome, _ := a.journal.outcome(left.Signature)
		assert.Equal(t, transaction.Confirmed, outcome)
		assert.Equal(t, 3, a.journal.begun)
	})
}

func TestUnknownOutcomeIsResolvedInTheBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		a.node.statusOf = confirmedAfter(30 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		_, err := a.pay(t, 1).Do(ctx, a.me)
		require.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))
		time.Sleep(time.Minute)
		outcome, finished := a.journal.outcome(a.only(t).Signature)
		require.True(t, finished, "without another action or call of Recover")
		assert.Equal(t, transaction.Confirmed, outcome)
		_, err = a.pay(t, 1).Do(t.Context(), a.me)
		require.ErrorIs(t, err, ErrAlreadyDone)
	})
}
