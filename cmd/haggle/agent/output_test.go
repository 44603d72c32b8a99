package agent

import (
	"bytes"
	"errors"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/agentrun"
	"github.com/haggle-protocol/haggle/internal/cli/mint"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestReasonsOfDeclinedNegotiationsHaveTokens(t *testing.T) {
	var out bytes.Buffer
	address := solana.PublicKey{7}
	a := &agentCommand{log: &agentrun.Log{
		Agent: "seller", Out: &out, Amounts: mint.Mint{Address: address, Decimals: 6, Symbol: "TEST"},
	}}
	reason := amount.Errorf(address, "its escrow of %v cannot pay %v after the fee", amount.Units(5_000_000),
		amount.Units(6_000_000))
	refusal := &agent.Refusal{Negotiation: address, Reason: reason.Error(), Err: reason}
	a.failed(address, errors.Join(errors.New("admission"), refusal))
	a.failed(address, &agent.Refusal{Negotiation: address, Reason: "it has terms beside price and service"})
	a.failed(address, errors.New("a warning in the log"))
	declined := "seller  " + address.String() + " declined: "
	require.Equal(t, declined+"its escrow of 5.00 TEST cannot pay 6.00 TEST after the fee\n"+
		declined+"it has terms beside price and service\n", out.String())
}

// TestARefusalEndsASellerWithoutDeposit checks that a seller who has not joined ends, and that a seller who
// has paid a bond continues in order to return it.
func TestARefusalEndsASellerWithoutDeposit(t *testing.T) {
	for _, joined := range []bool{false, true} {
		address, hasEnded := solana.PublicKey{7}, false
		a := &agentCommand{
			log: &agentrun.Log{Out: new(bytes.Buffer)}, single: address, side: protocol.OfferSideSeller,
			joined: joined, end: func(error) { hasEnded = true }, steps: steps{report: func(string) {}},
		}
		a.failed(address, &agent.Refusal{Negotiation: address, Reason: "it has sealed prices"})
		require.Equal(t, !joined, hasEnded)
	}
}
