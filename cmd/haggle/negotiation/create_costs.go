package negotiation

import (
	"fmt"
	"slices"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// dealCost is the cost of a deal to the buyer: the price and the decay of all offers.
type dealCost struct {
	Price amount.Tokens `json:"price"`
	// Offers is the number of offers of both sides until the deal.
	Offers uint8         `json:"offers"`
	Decay  amount.Tokens `json:"decay"`
	Total  amount.Tokens `json:"total"`
}

// costsOf returns the costs of a deal after the first offer, half of the offers and all offers. The price is
// half of the escrow, or the value of the escrow after the last offer if that is lower.
func costsOf(request *haggle.CreateRequest, tokens func(uint64) amount.Tokens) (costs []dealCost) {
	n := protocol.Negotiation{EscrowAmount: request.EscrowAmount, DecayRateBps: *request.DecayRateBps}
	price := min(request.EscrowAmount/2, request.EscrowAmount-n.DecayAfter(int(request.MaxRounds)))
	for _, offers := range slices.Compact([]uint8{1, (request.MaxRounds + 1) / 2, request.MaxRounds}) {
		lost := n.DecayAfter(int(offers))
		costs = append(costs, dealCost{tokens(price), offers, tokens(lost), tokens(price + lost)})
	}
	return costs
}

func (c dealCost) String() string {
	offers := "1 offer"
	if c.Offers > 1 {
		offers = fmt.Sprintf("%d offers", c.Offers)
	}
	return fmt.Sprintf("a deal at %s after %s costs %s: the decay is %s", c.Price, offers, c.Total, c.Decay)
}

// noDealCost is what the end without a deal that is the dearest one costs the buyer.
type noDealCost struct {
	Most amount.Tokens `json:"most"`
	// ProposedBond is the bond that would pay the seller's part of it.
	ProposedBond amount.Tokens `json:"proposed_bond"`
	bonded       bool
}

// noDealOf returns the cost of an end without a deal after all offers: their decay, less the part that the bond pays
// if the buyer rejects the last one.
func noDealOf(request *haggle.CreateRequest, tokens func(uint64) amount.Tokens) *noDealCost {
	n := protocol.Negotiation{
		EscrowAmount: request.EscrowAmount, DecayRateBps: *request.DecayRateBps, CurrentRound: request.MaxRounds,
		BondRequired: request.Bond, BondState: protocol.BondStateHeld,
	}
	// The bond never pays more than an offer costs, so that no earlier end costs more.
	most := n.DecayAfter(int(request.MaxRounds)) - n.BondAfterRejection(protocol.OfferSideBuyer)
	proposed := protocol.ProposedBond(request.EscrowAmount, request.MaxRounds, *request.DecayRateBps)
	return &noDealCost{tokens(most), tokens(proposed), request.Bond >= proposed}
}

func (c noDealCost) String() string {
	text := fmt.Sprintf("an end without a deal costs up to %s", c.Most)
	if c.bonded {
		return text + ", the decay of your own offers: the bond pays that of the seller's"
	}
	return fmt.Sprintf("%s; a bond of %s would pay the decay of the seller's offers: --propose-bond", text, c.ProposedBond)
}

// lastOfferWarning warns of an even number of offers, where the seller makes the last one; nil for an odd
// number. See docs/RESEARCH.md.
func lastOfferWarning(rounds uint8) error {
	if rounds%2 == 1 {
		return nil
	}
	return fmt.Errorf("with %d offers the seller makes the last one, and can demand all that the escrow still "+
		"covers: use --rounds %d, so that the buyer makes the last one", rounds, rounds-1)
}
