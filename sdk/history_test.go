package haggle

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/node"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// ledgerNode lists the transactions of one address as a node does: the newest first, a page at a time.
type ledgerNode struct {
	newestFirst []object
	// ignoresUntil makes the node ignore the transaction at which a list is to end, as if it had deleted it.
	ignoresUntil bool
}

func numbered(n int) solana.Signature { return solana.Signature{byte(n >> 8), byte(n), 1} }

func newLedger(t *testing.T, length int) (*Client, *ledgerNode) {
	t.Helper()
	ledger := &ledgerNode{}
	for n := length; n >= 1; n-- {
		ledger.newestFirst = append(ledger.newestFirst,
			object{"signature": numbered(n), "slot": n / 2, "err": nil})
	}
	client, err := NewClient(Config{Endpoint: "http://localhost"})
	require.NoError(t, err)
	client.rpc = rpc.NewWithCustomRPCClient(oneNode{&scriptedNode{calls: make(map[string]int),
		list: ledger.list}})
	return client, ledger
}

func (l *ledgerNode) list(options rpc.M) any {
	page := []object{}
	begun := options["before"] == nil
	for _, item := range l.newestFirst {
		if !begun {
			begun = item["signature"] == options["before"]
			continue
		}
		if !l.ignoresUntil && item["signature"] == options["until"] || len(page) == *options["limit"].(*int) {
			break
		}
		page = append(page, item)
	}
	return page
}

func TestHistoryIsOrderedFromTheOldest(t *testing.T) {
	client, ledger := newLedger(t, 2_500)
	cases := map[string]struct {
		from  position
		first int
	}{
		"everything":              {position{}, 1},
		"after a transaction":     {position{signature: numbered(900), slot: 450}, 901},
		"after the newest":        {position{signature: numbered(2_500), slot: 1_250}, 2_501},
		"from a slot on":          {position{slot: 1_000}, 2_000},
		"in the middle of a slot": {position{signature: numbered(2_000), slot: 1_000}, 2_001},
	}
	for _, forgets := range []bool{false, true} {
		ledger.ignoresUntil = forgets
		for name, c := range cases {
			t.Run(name, func(t *testing.T) {
				entries, err := client.since(t.Context(), solana.PublicKey{1}, c.from, 0)
				require.NoError(t, err)
				require.Len(t, entries, 2_500-c.first+1)
				for i, item := range entries {
					require.Equal(t, numbered(c.first+i), item.signature)
				}
			})
		}
	}
}

func TestListedTransactionWithoutSignatureIsAnError(t *testing.T) {
	client, _, _ := newScripted(t, map[string]func(int) (any, error){"getSlot": always(testSlot)})
	scripted := &scriptedNode{
		calls:   make(map[string]int),
		answers: map[string]func(int) (any, error){"getSlot": always(testSlot)},
		list:    func(rpc.M) any { return []any{nil} },
	}
	client.rpc = rpc.NewWithCustomRPCClient(oneNode{scripted})
	_, err := client.newest(t.Context(), solana.PublicKey{1}, testSlot)
	require.ErrorContains(t, err, "without a signature")
	_, err = client.since(t.Context(), solana.PublicKey{1}, position{}, 0)
	require.ErrorContains(t, err, "without a signature")
	_, err = client.hasHistory(t.Context(), solana.PublicKey{1})
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
		require.ErrorIs(t, err, node.ErrMalformed)
	}
	other, err := client.otherAccount(t.Context(),
		&token.Mint{Address: solana.PublicKey{2}, TokenProgram: solana.TokenProgramID}, solana.PublicKey{1})
	require.NoError(t, err)
	assert.True(t, other.IsZero())
	_, err = client.positionOf(t.Context(), numbered(1))
	require.Error(t, err)
	_, err = client.GetConfig(t.Context())
	require.ErrorIs(t, err, protocol.ErrAccountNotFound)
	price, err := client.unitPrice(t.Context(), nil)
	require.NoError(t, err)
	assert.Zero(t, price)
}

func TestPositionAdvancesOnlyOverSettledSlots(t *testing.T) {
	entries := []entry{{signature: numbered(1), slot: 100}, {signature: numbered(2), slot: 110},
		{signature: numbered(3), slot: 141}}
	assert.Equal(t, position{signature: numbered(2), slot: 110}, position{}.advance(entries, 142))
	assert.Equal(t, position{signature: numbered(3), slot: 141}, position{}.advance(entries, 173))
	assert.Equal(t, position{signature: numbered(9), slot: 90},
		position{signature: numbered(9), slot: 90}.advance(entries, 100))
	assert.Equal(t, position{signature: numbered(9), slot: 500},
		position{signature: numbered(9), slot: 90}.advance(nil, 532), "nothing happened until then")
	assert.Equal(t, position{}, position{}.advance(nil, 5))
}

// A node has returned a slot that the chain has not reached, and a list up to it. Later transactions must not
// be missed.
func TestFalseSlotDoesNotHideLaterTransactions(t *testing.T) {
	const ahead = 1_000_000_000
	wrong := position{signature: numbered(900), slot: 450}.advance(nil, ahead)
	client, _ := newLedger(t, 1_000)
	entries, err := client.since(t.Context(), solana.PublicKey{1}, wrong, 520)
	require.NoError(t, err)
	require.Len(t, entries, 100)
	assert.Equal(t, numbered(901), entries[0].signature)
	assert.Equal(t, position{signature: numbered(977), slot: 488}, wrong.advance(entries, 520))

	stream := client.sharedStream()
	assert.EqualValues(t, 500, stream.advanceHead(500))
	assert.EqualValues(t, 500, stream.advanceHead(499), "an answer that was on its way for longer")
	assert.EqualValues(t, ahead, stream.advanceHead(ahead))
	assert.EqualValues(t, 520, stream.advanceHead(520), "the client has found out, or it would not take that")
}
