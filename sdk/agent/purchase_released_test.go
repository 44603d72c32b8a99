package agent

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// TestMoveThatCanStillLeadToADealIsNotReleased lists negotiation states that follow an authorized move in
// round 2: the acceptance of the seller's offer, or the next offer.
func TestMoveThatCanStillLeadToADealIsNotReleased(t *testing.T) {
	rules := onchain.Rules{Escrow: 5_000_000, MaxRounds: 8, ResponseWindow: 300, Deadline: 3_600}
	after := func(rounds int, status protocol.NegotiationStatus) *haggle.Snapshot {
		n := rules.Negotiation()
		for range rounds {
			onchain.Apply(n, n.Turn(), 1_000_000, 0)
		}
		if status != protocol.NegotiationStatusCreated {
			n.Status = status
		}
		return &haggle.Snapshot{Negotiation: *n}
	}
	none := protocol.NegotiationStatusCreated
	record := PurchaseRecord{Negotiation: solana.PublicKey{1}, Round: 2}
	with := func(result *Result) *purchaseRun {
		return &purchaseRun{all: []*purchaseNegotiation{
			{address: solana.PublicKey{2}, result: &Result{Status: protocol.NegotiationStatusRejected}},
			{address: solana.PublicKey{1}, result: result},
		}}
	}
	for name, c := range map[string]struct {
		finalized *haggle.Snapshot
		result    *Result
		released  bool
	}{
		"not executed yet":              {after(2, none), nil, false},
		"before the answered offer":     {after(1, none), nil, false},
		"the offer stands":              {after(3, none), nil, false},
		"answered by a counter-offer":   {after(4, none), nil, true},
		"a further offer stands":        {after(5, none), nil, false},
		"accepted":                      {after(2, protocol.NegotiationStatusSettled), nil, false},
		"accepted, paid by milestones":  {after(2, protocol.NegotiationStatusAccepted), nil, false},
		"rejected":                      {after(3, protocol.NegotiationStatusRejected), nil, true},
		"expired":                       {after(3, protocol.NegotiationStatusExpired), nil, true},
		"closed, end not known yet":     {nil, nil, false},
		"closed, end lost by the nodes": {nil, &Result{}, false},
		"closed after a deal":           {nil, &Result{Status: protocol.NegotiationStatusSettled}, false},
		"closed after a rejection":      {nil, &Result{Status: protocol.NegotiationStatusRejected}, true},
	} {
		require.Equal(t, c.released, with(c.result).isReleased(record, c.finalized), name)
	}
}
