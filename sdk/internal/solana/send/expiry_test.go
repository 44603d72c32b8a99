package send

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/require"
)

// answers is a node that returns the same result for a method each time.
type answers struct {
	rpc.JSONRPCClient
	results map[string]string
}

func (a answers) CallForInto(_ context.Context, out any, method string, _ []any) error {
	return (&jsonrpc.RPCResponse{Result: json.RawMessage(a.results[method])}).GetObject(out)
}

// Several nodes can share an address. The node with the status may lack the blocks that could contain the
// transaction, although the node with the height keeps them.
func TestExpiryNeedsAStatusThatIsNoOlderThanTheHeight(t *testing.T) {
	for slot, want := range map[string]expiry{"999": expiryOpen, "1000": expiryProven} {
		node := rpc.NewWithCustomRPCClient(answers{results: map[string]string{
			"getEpochInfo":           `{"absoluteSlot":1000,"blockHeight":900}`,
			"getSignatureStatuses":   `{"context":{"slot":` + slot + `},"value":[null]}`,
			"isBlockhashValid":       `{"context":{"slot":1000},"value":false}`,
			"getFirstAvailableBlock": `0`,
		}})
		pending := (&Sender{}).Pending(Pending{Signature: solana.Signature{1},
			Valid: Validity{LastHeight: 899, Since: 700}})
		got := pending.verdictOf(t.Context(), node)
		require.Equal(t, want, got.expiry, "status of slot %s", slot)
	}
}

func TestAgeOfATransactionNeedsAnswersInTheOrderOfTheirSlots(t *testing.T) {
	for _, c := range []struct {
		status, blockhash string
		known             bool
	}{{"1000", "1000", true}, {"999", "1000", false}, {"1001", "1000", false}} {
		sender := &Sender{Options: Options{RPC: rpc.NewWithCustomRPCClient(answers{results: map[string]string{
			"getEpochInfo":         `{"absoluteSlot":1000,"blockHeight":900}`,
			"getSignatureStatuses": `{"context":{"slot":` + c.status + `},"value":[null]}`,
			"isBlockhashValid":     `{"context":{"slot":` + c.blockhash + `},"value":true}`,
		}})}}
		valid := new(Validity)
		known, _ := sender.NotExecutedBefore(t.Context(), solana.Signature{1}, valid)
		require.Equal(t, c.known, known, "%+v", c)
		require.Equal(t, c.known, valid.Since == 1000, "%+v", c)
	}
}
