package haggle

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// confirmsAfter makes the node confirm every transaction some time after the first one was sent.
func (a *agent) confirmsAfter(took time.Duration) {
	began := time.Now()
	a.node.statusOf = func(solana.Signature) any {
		if time.Since(began) < took {
			return nil
		}
		return executedStatus("confirmed", nil)
	}
}

func TestConfirmationTakesFewRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		a.confirmsAfter(1500 * time.Millisecond)
		_, err := a.pay(t, 1).Do(t.Context(), a.me)
		require.NoError(t, err)
		assert.LessOrEqual(t, a.node.called("getSignatureStatuses"), 7)
		assert.Equal(t, 1, a.node.called("sendTransaction"))
		assert.Zero(t, a.node.called("getEpochInfo"))
	})
}

func TestOneRequestPollsAllTransactions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const transactions = 600
		a := newAgent(t, nil)
		a.confirmsAfter(1500 * time.Millisecond)
		var waiting sync.WaitGroup
		for i := range uint64(transactions) {
			action := a.pay(t, i+1)
			waiting.Go(func() {
				_, err := action.Do(t.Context(), a.me)
				assert.NoError(t, err)
			})
		}
		waiting.Wait()
		// Three requests hold the signatures of all.
		assert.LessOrEqual(t, a.node.called("getSignatureStatuses"), 3*10)
		assert.Equal(t, 3, (transactions+255)/256)
	})
}

// Searching a node's history is slow, and not needed while a transaction can still be executed.
func TestHistoryIsSearchedOnlyAfterTheValidity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		a.confirmsAfter(20 * time.Second)
		searched := 0
		a.node.history = func() { searched++ }
		_, err := a.pay(t, 1).Do(t.Context(), a.me)
		require.NoError(t, err)
		assert.Zero(t, searched)
		assert.LessOrEqual(t, a.node.called("getEpochInfo"), 10, "the height is requested every two seconds")

		// This transaction expired, so the history must prove that it was not executed.
		a.node.statusOf = func(solana.Signature) any { return nil }
		a.node.answers["getEpochInfo"] = always(object{"absoluteSlot": testSlot,
			"blockHeight": testLastValid + 1})
		_, err = a.pay(t, 2).Do(t.Context(), a.me)
		require.ErrorIs(t, err, transaction.ErrExpired)
		assert.Equal(t, 1, searched)
	})
}
