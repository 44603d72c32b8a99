package haggle

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"
)

// The memory journal knows signatures and nothing else: the client itself keeps two calls from sending the
// same action.
func TestTwoCallsDoNotSendTheSameAction(t *testing.T) {
	f := newInFlight(newMemoryJournal())
	entry := func(signature byte, key byte) JournalEntry {
		return JournalEntry{Wallet: solana.PublicKey{1}, Signature: solana.Signature{signature},
			Key: solana.Hash{key}, Transaction: []byte{1}}
	}
	require.NoError(t, f.begin(t.Context(), entry(1, 7)))
	require.ErrorIs(t, f.begin(t.Context(), entry(2, 7)), ErrInJournal)
	require.NoError(t, f.begin(t.Context(), entry(3, 8)))
	f.remove(solana.Signature{1})
	require.NoError(t, f.begin(t.Context(), entry(4, 7)))
}
