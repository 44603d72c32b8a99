package negotiation

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

func TestCostsOfDealsIncludeTheDecay(t *testing.T) {
	tokens := func(units uint64) amount.Tokens { return amount.Tokens{Units: units, Decimals: 6, Symbol: "TEST"} }
	lines := func(rounds uint8, decayBps uint16) (text []string) {
		terms := &protocol.NegotiationParams{EscrowAmount: 5_000_000, MaxRounds: rounds, DecayRateBps: decayBps}
		for _, cost := range costsOf(terms, tokens) {
			text = append(text, cost.String())
		}
		return text
	}
	require.Equal(t, []string{
		"a deal at 2.50 TEST after 1 offer costs 2.60 TEST: the decay is 0.10 TEST",
		"a deal at 2.50 TEST after 5 offers costs 2.980396 TEST: the decay is 0.480396 TEST",
		"a deal at 2.50 TEST after 10 offers costs 3.414636 TEST: the decay is 0.914636 TEST",
	}, lines(10, 200))
	require.Equal(t, []string{"a deal at 2.50 TEST after 1 offer costs 2.50 TEST: the decay is 0.00 TEST"}, lines(1, 0))
	require.Equal(t, "a deal at 0.607883 TEST after 20 offers costs 5.00 TEST: the decay is 4.392117 TEST", lines(20, 1000)[2],
		"the escrow no longer covers its half")
}

func TestAnEndWithoutADealCostsLessWithABond(t *testing.T) {
	tokens := func(units uint64) amount.Tokens { return amount.Tokens{Units: units, Decimals: 6, Symbol: "TEST"} }
	terms := &protocol.NegotiationParams{EscrowAmount: 5_000_000, MaxRounds: 10, DecayRateBps: 200}
	require.Equal(t, "an end without a deal costs up to 0.914636 TEST; a bond of 0.4544 TEST would pay the decay of "+
		"the seller's offers: --propose-bond", noDealOf(terms, tokens).String())
	terms.BondRequired = 454_400
	require.Equal(t, "an end without a deal costs up to 0.461937 TEST, the decay of your own offers: the bond pays that of "+
		"the seller's", noDealOf(terms, tokens).String())
}
