package haggle

import (
	"context"
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

var testNonce = solana.PublicKey{0x4e}

// nonceData returns a nonce account's bytes.
func nonceData(authority solana.PublicKey, value solana.Hash) []byte {
	data := binary.LittleEndian.AppendUint32(nil, 1)
	data = binary.LittleEndian.AppendUint32(data, 1)
	data = append(append(data, authority[:]...), value[:]...)
	return binary.LittleEndian.AppendUint64(data, 5_000)
}

func (a *agent) nonceIs(value solana.Hash) {
	a.node.accounts = map[solana.PublicKey]any{
		testNonce: answerOf(solana.SystemProgramID, 1_447_680, nonceData(a.me.PublicKey(), value)),
	}
}

func TestGetNonceIsStrict(t *testing.T) {
	client, node, _ := newScripted(t, nil)
	authority := solana.PublicKey{7}
	good := nonceData(authority, solana.Hash{8})
	node.accounts = map[solana.PublicKey]any{testNonce: answerOf(solana.SystemProgramID, 1_447_680, good)}
	nonce, slot, err := client.getNonce(t.Context(), testNonce)
	require.NoError(t, err)
	assert.Equal(t, &send.Nonce{Address: testNonce, Authority: authority, Value: solana.Hash{8}}, nonce)
	assert.EqualValues(t, testSlot, slot)

	spoilt := func(at int, value byte) []byte {
		data := append([]byte(nil), good...)
		data[at] = value
		return data
	}
	for name, c := range map[string]struct {
		answer any
		want   error
	}{
		"missing":         {nil, protocol.ErrAccountNotFound},
		"another program": {answerOf(solana.TokenProgramID, 1, good), protocol.ErrWrongOwner},
		"a wallet":        {answerOf(solana.SystemProgramID, 1, nil), transaction.ErrNotANonce},
		"too long":        {answerOf(solana.SystemProgramID, 1, append(good, 0)), transaction.ErrNotANonce},
		"legacy":          {answerOf(solana.SystemProgramID, 1, spoilt(0, 0)), transaction.ErrNotANonce},
		"uninitialized":   {answerOf(solana.SystemProgramID, 1, spoilt(4, 0)), transaction.ErrNotANonce},
	} {
		node.accounts[testNonce] = c.answer
		_, _, err := client.getNonce(t.Context(), testNonce)
		var account *protocol.AccountError
		require.ErrorAs(t, err, &account, name)
		require.ErrorIs(t, err, c.want, name)
	}
}

func TestTransactionWithANonceBeginsWithItsAdvance(t *testing.T) {
	a := newAgent(t, map[string]func(int) (any, error){"getSignatureStatuses": executed(testSlot)})
	a.nonceIs(solana.Hash{8})
	_, err := a.pay(t, 1).With(WithNonce(testNonce)).Do(t.Context(), a.me)
	require.NoError(t, err)
	entry := a.only(t)
	assert.Equal(t, testNonce, entry.Nonce)
	assert.Equal(t, solana.Hash{8}, entry.Blockhash)
	assert.Zero(t, entry.LastValidBlockHeight)
	assert.EqualValues(t, testSlot, entry.Slot)
	assert.Zero(t, a.node.called("getLatestBlockhash"))

	tx, err := solana.TransactionFromBytes(entry.Transaction)
	require.NoError(t, err)
	assert.Equal(t, solana.Hash{8}, tx.Message.RecentBlockhash)
	named, ok := tx.GetNonceAccount()
	require.True(t, ok, "the chain takes it for one with a nonce only if the advance comes first")
	assert.Equal(t, testNonce, named)
}

func TestTransactionWithANonceExpiresOnlyWithTheNonce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		a.nonceIs(solana.Hash{8})
		// Any blockhash of that time expired long ago.
		a.node.answers["getEpochInfo"] = always(object{"absoluteSlot": testSlot,
			"blockHeight": 10 * testLastValid})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		_, err := a.pay(t, 1).With(WithNonce(testNonce)).Do(ctx, a.me)
		require.Equal(t, transaction.Unknown, transaction.OutcomeOf(err))
		var unknown *transaction.UnknownOutcomeError
		require.ErrorAs(t, err, &unknown)
		assert.Equal(t, testNonce, unknown.Nonce)
		assert.Equal(t, solana.Hash{8}, unknown.Blockhash)
		assert.Greater(t, a.node.called("sendTransaction"), 100)

		// In another process: the nonce value differs, because another transaction changed it.
		a = a.restart(t)
		a.nonceIs(solana.Hash{9})
		recovered, err := a.Recover(t.Context(), a.me.PublicKey())
		require.NoError(t, err)
		require.Len(t, recovered, 1)
		assert.Equal(t, transaction.Expired, recovered[0].Outcome)
		assert.Zero(t, a.node.called("sendTransaction"))

		_, err = a.Outcome(t.Context(), unknown)
		require.ErrorIs(t, err, transaction.ErrExpired)
	})
}

func TestTransactionThatHasUsedItsNonceIsConfirmed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		a.nonceIs(solana.Hash{8})
		entry := a.abandon(t, a.pay(t, 1).With(WithNonce(testNonce)))
		a = a.restart(t)
		a.nonceIs(solana.Hash{9})
		a.node.answers["getSignatureStatuses"] = executed(testSlot)
		recovered, err := a.Recover(t.Context(), a.me.PublicKey())
		require.NoError(t, err)
		require.Len(t, recovered, 1)
		assert.Equal(t, transaction.Confirmed, recovered[0].Outcome)
		assert.Equal(t, entry.Signature, recovered[0].Receipt.Signature)
	})
}

// A node that deleted the blocks that may contain the transaction cannot prove that it was never executed.
func TestOldUsedNonceNeedsANodeWithItsBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		a.nonceIs(solana.Hash{8})
		a.abandon(t, a.pay(t, 1).With(WithNonce(testNonce)))
		a = a.restart(t)
		a.journal.entries[0].Slot = 1
		a.nonceIs(solana.Hash{9})
		a.node.answers["getFirstAvailableBlock"] = always(2)
		_, err := a.Recover(t.Context(), a.me.PublicKey())
		require.ErrorIs(t, err, ErrUnresolved)
		a.node.answers["getFirstAvailableBlock"] = always(1)
		recovered, err := a.Recover(t.Context(), a.me.PublicKey())
		require.NoError(t, err)
		assert.Equal(t, transaction.Expired, recovered[0].Outcome)
	})
}

func TestSubmitWaitsForATransactionWithANonce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAgent(t, nil)
		a.nonceIs(solana.Hash{8})
		tx, err := a.pay(t, 1).With(WithNonce(testNonce)).Transaction(t.Context())
		require.NoError(t, err)
		require.NoError(t, send.Sign(t.Context(), tx, []Signer{a.me}))
		a.node.statusOf = confirmedAfter(3 * time.Minute)
		receipt, err := a.Submit(t.Context(), tx)
		require.NoError(t, err)
		assert.Equal(t, tx.Signatures[0], receipt.Signature)
		assert.Equal(t, testNonce, a.only(t).Nonce)
	})
}
