package agent_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestTwoAgentsAgreeAndCloseTheNegotiation(t *testing.T) {
	f := newFixture(t)
	buyer := f.run(f.Buyer, agent.Config{Decide: concede(2_000_000, 500_000, true)})
	seller := f.run(f.Seller, agent.Config{Decide: concede(4_500_000, 500_000, false), Services: services})
	negotiation := f.invite()
	bought, sold := f.result(buyer), f.result(seller)
	require.Nil(t, f.state(negotiation), "the buyer closes the negotiation")

	all := f.history(negotiation)
	settled := eventsOf[*protocol.NegotiationSettled](all)
	require.Len(t, settled, 1)
	for side, result := range map[protocol.OfferSide]agent.Result{
		protocol.OfferSideBuyer: bought, protocol.OfferSideSeller: sold,
	} {
		require.Equal(t, negotiation, result.Negotiation)
		require.Equal(t, side, result.Side)
		require.Equal(t, protocol.NegotiationStatusSettled, result.Status)
		require.Equal(t, settled[0].SettledAmount, result.Price)
		require.Equal(t, settled[0].ProtocolFee, result.Fee)
		require.Equal(t, settled[0].TotalRounds, result.Rounds)
	}
	require.Equal(t, f.Seller.PublicKey(), bought.Counterpart)
	require.Empty(t, buyer.errors())
	require.Empty(t, seller.errors())

	var names []string
	for _, act := range append(seller.acts(), buyer.acts()...) {
		names = append(names, fmt.Sprint(act.Side, " ", act.Name))
	}
	require.Contains(t, names, "Seller accept_invitation")
	require.Contains(t, names, "Buyer close_negotiation")
}
