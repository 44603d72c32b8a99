package haggle

import (
	"context"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// listNode is a node that lists no transactions, and records the list's parameters.
type listNode struct {
	jsonrpc.RPCClient
	listed []any
}

func (n *listNode) CallForInto(_ context.Context, _ any, method string, params []any) error {
	if method == "getSignaturesForAddress" {
		n.listed = params
	}
	return nil
}

func TestListTransactionsOptions(t *testing.T) {
	last, until := transaction.Listed{Signature: solana.Signature{1}, Slot: 7}, solana.Signature{2}
	for name, test := range map[string]struct {
		options ListTransactionsOptions
		want    rpc.M
	}{
		"zero": {want: rpc.M{"commitment": rpc.CommitmentFinalized, "minContextSlot": uint64(0)}},
		"all": {
			ListTransactionsOptions{Before: last, Until: until, Commitment: rpc.CommitmentConfirmed, MinSlot: 9},
			rpc.M{
				"commitment": rpc.CommitmentConfirmed, "minContextSlot": uint64(9),
				"before": last.Signature, "until": until,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var node listNode
			for range ListTransactions(t.Context(), rpc.NewWithCustomRPCClient(&node), test.options) {
				break
			}
			require.Len(t, node.listed, 2)
			require.Equal(t, protocol.ProgramID, node.listed[0])
			query := node.listed[1].(rpc.M)
			delete(query, "limit") // of a page
			require.Equal(t, test.want, query)
		})
	}
}
