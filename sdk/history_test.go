package haggle

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestListedTransactionWithoutSignatureIsAnError(t *testing.T) {
	client, _, _ := newScripted(t, map[string]func(int) (any, error){"getSlot": always(testSlot)})
	scripted := &scriptedNode{
		calls:   make(map[string]int),
		answers: map[string]func(int) (any, error){"getSlot": always(testSlot)},
		list:    func(rpc.M) any { return []any{nil} },
	}
	client.rpc = rpc.NewWithCustomRPCClient(oneNode{scripted})
	for _, err := range client.History(t.Context(), solana.PublicKey{1}) {
		require.ErrorContains(t, err, "without a signature")
		require.ErrorIs(t, err, transaction.ErrMalformed)
	}
	_, err := client.hasHistory(t.Context(), solana.PublicKey{1})
	require.ErrorContains(t, err, "without a signature")
}

func TestNullAccountsAreMissing(t *testing.T) {
	nothing := always(object{"context": object{"slot": testSlot}, "value": []any{nil}})
	client, _, _ := newScripted(t, map[string]func(int) (any, error){
		"getProgramAccounts": nothing, "getTokenAccountsByOwner": nothing, "getSignatureStatuses": nothing,
		"getMultipleAccounts":         nothing,
		"getRecentPrioritizationFees": always([]any{nil}),
	})
	client.maxPriorityFee = 1
	for _, err := range client.FindNegotiations(t.Context(), Filter{}) {
		require.ErrorIs(t, err, transaction.ErrMalformed)
	}
	other, err := client.otherAccount(t.Context(),
		&token.Mint{Address: solana.PublicKey{2}, TokenProgram: solana.TokenProgramID}, solana.PublicKey{1})
	require.NoError(t, err)
	assert.True(t, other.IsZero())
	_, err = client.Watch(t.Context(), solana.PublicKey{1}, After(solana.Signature{1}))
	require.ErrorContains(t, err, "not found")
	_, err = client.GetConfig(t.Context())
	require.ErrorIs(t, err, protocol.ErrAccountNotFound)
	price, err := client.unitPrice(t.Context(), nil)
	require.NoError(t, err)
	assert.Zero(t, price)
}
