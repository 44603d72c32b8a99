package haggle

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// observingSigner records the outcomes that it receives.
type observingSigner struct {
	*wallet.Keypair
	lock     sync.Mutex
	outcomes []transaction.Outcome
}

func (o *observingSigner) ObserveOutcome(_ context.Context, _ []byte, outcome transaction.Outcome) {
	o.lock.Lock()
	defer o.lock.Unlock()
	o.outcomes = append(o.outcomes, outcome)
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
		signer := &observingSigner{Keypair: a.me}
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
		signer := &observingSigner{Keypair: a.me}
		_, err := a.on(t, solana.PublicKey{2}, 2).Do(t.Context(), signer)
		require.NoError(t, err)

		time.Sleep(time.Minute)
		assert.Equal(t, []transaction.Outcome{transaction.Confirmed, transaction.Confirmed}, signer.received())
	})
}
