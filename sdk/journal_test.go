package haggle

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestEntryIsWrittenBeforeTheSend(t *testing.T) {
	a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
	a.journal.afterBegin = func() { assert.Zero(t, a.node.called("sendTransaction")) }
	action := a.pay(t, 1)
	receipt, err := action.Do(t.Context(), a.me)
	require.NoError(t, err)

	entry := a.only(t)
	assert.Equal(t, receipt.Signature, entry.Signature)
	assert.Equal(t, a.me.PublicKey(), entry.Wallet)
	assert.Equal(t, "pay", entry.Action)
	assert.EqualValues(t, testLastValid, entry.LastValidBlockHeight)
	assert.EqualValues(t, testSlot, entry.Slot)
	assert.Equal(t, rpc.CommitmentConfirmed, entry.Commitment)
	tx, err := solana.TransactionFromBytes(entry.Transaction)
	require.NoError(t, err)
	assert.Equal(t, entry.Blockhash, tx.Message.RecentBlockhash)
	assert.NoError(t, tx.VerifySignatures())
	outcome, _ := a.journal.outcome(entry.Signature)
	assert.Equal(t, transaction.Confirmed, outcome)
}

func TestNothingIsSentIfTheJournalFails(t *testing.T) {
	full := errors.New("no space left on device")
	for _, fails := range []func(*memoryJournal){
		func(m *memoryJournal) { m.beginFails = full },
		func(m *memoryJournal) { m.listingFails = full },
	} {
		a := newAgent(t, nil)
		fails(a.journal)
		_, err := a.pay(t, 1).Do(t.Context(), a.me)
		require.ErrorIs(t, err, full)
		assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))
		assert.Zero(t, a.node.called("sendTransaction"))
	}
}

func TestFailedFinishReturnsTheOutcome(t *testing.T) {
	full := errors.New("no space left on device")
	a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
	a.journal.finishFails = full
	receipt, err := a.pay(t, 1).Do(t.Context(), a.me)
	require.ErrorIs(t, err, full)
	require.NotNil(t, receipt)
	assert.Equal(t, transaction.Confirmed, transaction.OutcomeOf(err))

	// The action is not repeated before the outcome is recorded.
	_, err = a.pay(t, 1).Do(t.Context(), a.me)
	require.ErrorIs(t, err, ErrUnresolved)
	assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))
	assert.Equal(t, 1, a.journal.begun)
}

func TestRefusedTransactionIsFinished(t *testing.T) {
	a := newAgent(t, map[string]func(int) (any,
		error){"sendTransaction": failing(&jsonrpc.RPCError{Code: -32602, Message: "too large"})})
	_, err := a.pay(t, 1).Do(t.Context(), a.me)
	require.Error(t, err)
	assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))
	outcome, finished := a.journal.outcome(a.only(t).Signature)
	assert.True(t, finished)
	assert.Equal(t, transaction.NotSent, outcome)
}

func TestEntryOfAnotherTransactionIsNotSent(t *testing.T) {
	a := newAgent(t, nil)
	b := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
	_, err := b.pay(t, 5).Do(t.Context(), b.me)
	require.NoError(t, err)
	for _, spoilt := range [][]byte{{1, 2, 3}, b.only(t).Transaction} {
		a.journal.entries = []JournalEntry{{Wallet: a.me.PublicKey(), Signature: solana.Signature{1},
			Transaction: spoilt}}
		a.journal.authorized[solana.Signature{1}] = true
		_, err := a.Recover(t.Context(), a.me.PublicKey())
		require.ErrorIs(t, err, ErrUnresolved)
		var unresolved *UnresolvedError
		require.ErrorAs(t, err, &unresolved)
		require.ErrorIs(t, unresolved.Entries[0].Err, errEntryDamaged)
	}
	assert.Zero(t, a.node.called("sendTransaction"))
}

func TestSubmitWritesToTheJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		tx, err := a.pay(t, 1).Transaction(t.Context())
		require.NoError(t, err)
		require.NoError(t, send.Sign(t.Context(), tx, []Signer{a.me}))
		ctx, kill := context.WithCancel(t.Context())
		a.journal.afterAuthorize = kill
		_, err = a.Submit(ctx, tx)
		require.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))
		entry := a.only(t)
		assert.Equal(t, tx.Message.RecentBlockhash, entry.Blockhash)

		// The same transaction again is not a second one.
		a = a.restart(t)
		a.journal.afterAuthorize = nil
		a.node.answers["getSignatureStatuses"] = executed(testSlot)
		receipt, err := a.Submit(t.Context(), tx)
		require.NoError(t, err)
		assert.Equal(t, entry.Signature, receipt.Signature)
		assert.Len(t, a.journal.entries, 1)
	})
}
