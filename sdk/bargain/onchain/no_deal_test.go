package onchain_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// after returns a negotiation after the given number of offers, all made in the same second.
func after(rules onchain.Rules, offers int) *protocol.Negotiation {
	n := rules.Negotiation()
	for range offers {
		onchain.Apply(n, n.Turn(), 0, 0)
	}
	return n
}

// losses returns the parties' no-deal results, in base units.
func losses(n *protocol.Negotiation, ending bargain.Ending) (buyer, seller int64) {
	s := onchain.Settle(n, ending)
	return int64(s.Refund+s.FromBond) - int64(n.EscrowAmount), -int64(s.FromBond)
}

func TestNobodyGainsWithoutADeal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := onchain.Rules{
			Escrow:    rapid.Uint64Range(onchain.MinEscrow, 1<<62).Draw(t, "escrow"),
			MaxRounds: rapid.Uint8Range(onchain.MinRounds, onchain.MaxRounds).Draw(t, "rounds"), MinOfferBps: 100,
			DecayRateBps:   rapid.Uint16Range(0, onchain.MaxDecayRateBps).Draw(t, "decay"),
			ResponseWindow: 300, Deadline: rapid.Int64Range(60, 600).Draw(t, "deadline"),
		}
		proposed := protocol.ProposedBond(rules.Escrow, rules.MaxRounds, rules.DecayRateBps)
		rules.Bond = rapid.OneOf(rapid.Just(proposed), rapid.Uint64Range(0, 1<<62)).Draw(t, "bond")
		n := after(rules, rapid.IntRange(0, int(rules.MaxRounds)).Draw(t, "offers"))
		for _, ending := range []bargain.Ending{bargain.EndingLeft, bargain.EndingDeadline} {
			buyer, seller := losses(n, ending)
			require.LessOrEqual(t, buyer, int64(0))
			require.LessOrEqual(t, seller, int64(0))
			require.Equal(t, -int64(n.Decay()), buyer+seller, "only the decay is lost")
			require.LessOrEqual(t, uint64(-seller), rules.Bond)
			if rules.Bond >= proposed {
				n.BondRequired = 1 << 63
				_, unlimited := losses(n, ending)
				require.Equal(t, unlimited, seller, "the proposed bond is enough")
				n.BondRequired = rules.Bond
			}
		}
	})
}

func TestProposedBondIsTheLeast(t *testing.T) {
	require.Equal(t, uint64(454_400), protocol.ProposedBond(5_000_000, 10, 200), "the ninth offer without an answer")
	require.Equal(t, uint64(100_000), protocol.ProposedBond(5_000_000, 1, 200), "the first offer without an answer")
	require.Zero(t, protocol.ProposedBond(5_000_000, 10, 0))
	require.LessOrEqual(t, protocol.ProposedBond(1<<63, 20, 1_000), uint64(1<<63))
}

// TestTheTableOfLosses computes the table of docs/SECURITY_MODEL.md.
func TestTheTableOfLosses(t *testing.T) {
	rules := onchain.Rules{
		Escrow: 5_000_000, MaxRounds: protocol.DefaultMaxRounds, DecayRateBps: protocol.DefaultDecayRateBps,
		MinOfferBps: protocol.DefaultMinOfferBps, ResponseWindow: protocol.DefaultResponseWindow, Deadline: 86_400,
	}
	bonded := rules
	bonded.Bond = protocol.ProposedBond(rules.Escrow, rules.MaxRounds, rules.DecayRateBps)
	tokens := func(units int64) string {
		if units == 0 {
			return "0"
		}
		return fmt.Sprintf("-%d.%06d", -units/1_000_000, -units%1_000_000)
	}
	var table strings.Builder
	for _, row := range []struct {
		end    string
		offers int
		ending bargain.Ending
	}{
		{"the seller does not answer the first offer", 1, bargain.EndingDeadline},
		{"the seller rejects the first offer", 1, bargain.EndingLeft},
		{"the buyer rejects the seller's first offer", 2, bargain.EndingLeft},
		{"the buyer does not answer the seller's first offer", 2, bargain.EndingDeadline},
		{"the seller does not answer the ninth offer", 9, bargain.EndingDeadline},
		{"the buyer rejects the tenth offer", 10, bargain.EndingLeft},
		{"the buyer does not answer the tenth offer", 10, bargain.EndingDeadline},
	} {
		buyer, seller := losses(after(rules, row.offers), row.ending)
		bondedBuyer, bondedSeller := losses(after(bonded, row.offers), row.ending)
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s |\n", row.end, tokens(buyer), tokens(seller),
			tokens(bondedBuyer), tokens(bondedSeller))
	}
	page, err := os.ReadFile("../../../docs/SECURITY_MODEL.md")
	require.NoError(t, err)
	require.True(t, strings.Contains(string(page), table.String()), "docs/SECURITY_MODEL.md should have\n%s", table.String())
}

// TestBondMovesBothLimitsByTheSellersDecay checks a negotiation where the seller makes only the second offer,
// costing 2 % of 98 %.
func TestBondMovesBothLimitsByTheSellersDecay(t *testing.T) {
	rules := onchain.Rules{Escrow: 1_000_000, MaxRounds: 10, DecayRateBps: 200, MinOfferBps: 1_000}
	limits := func(bond uint64, offers int) (buyer, seller uint64) {
		rules.Bond = bond
		n := after(rules, offers)
		buyer, ok := rules.Limit(onchain.Buyer, 800_000, n.BondForDelay())
		require.True(t, ok)
		seller, ok = rules.Limit(onchain.Seller, 600_000, n.BondForDelay())
		require.True(t, ok)
		return buyer, seller
	}
	for _, test := range []struct {
		bond          uint64
		offers        int
		buyer, seller uint64
	}{
		{0, 2, 800_000, 600_000},
		{100_000, 1, 800_000, 600_000},
		{100_000, 2, 800_000 - 19_600, 600_000 - 19_600},
		{1_000, 2, 800_000 - 1_000, 600_000 - 1_000}, // limited to the bond
	} {
		buyer, seller := limits(test.bond, test.offers)
		require.Equal(t, [2]uint64{test.buyer, test.seller}, [2]uint64{buyer, seller}, "%+v", test)
	}
	price, ok := rules.Limit(onchain.Buyer, 999, 1_000)
	require.False(t, ok, "the bond pays more than the agreement is worth")
	require.Zero(t, price)
	price, _ = rules.Limit(onchain.Seller, 999, 1_000)
	require.Zero(t, price)
}
