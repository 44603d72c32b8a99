package negotiation

import (
	"fmt"

	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// dealCost is a deal's cost to the buyer: the price and the decay for all offers.
type dealCost struct {
	Price amount.Tokens `json:"price"`
	// Offers is the number of offers by both sides until the deal.
	Offers uint8         `json:"offers"`
	Decay  amount.Tokens `json:"decay"`
	Total  amount.Tokens `json:"total"`
}

// costsOf returns the examples of [onchain.DealCosts].
func costsOf(terms *protocol.NegotiationParams, tokens func(uint64) amount.Tokens) (costs []dealCost) {
	for _, c := range onchain.DealCosts(terms) {
		costs = append(costs, dealCost{tokens(c.Price), c.Offers, tokens(c.Decay), tokens(c.Total())})
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

// noDealCost is the buyer's cost for the dearest end with no deal.
type noDealCost struct {
	Most amount.Tokens `json:"most"`
	// ProposedBond is the bond that would pay the seller's part.
	ProposedBond amount.Tokens `json:"proposed_bond"`
	bonded       bool
}

func noDealOf(terms *protocol.NegotiationParams, tokens func(uint64) amount.Tokens) *noDealCost {
	cost := onchain.NoDealCostOf(terms)
	return &noDealCost{tokens(cost.Most), tokens(cost.ProposedBond), cost.Bonded}
}

func (c noDealCost) String() string {
	text := fmt.Sprintf("an end without a deal costs up to %s", c.Most)
	if c.bonded {
		return text + ", the decay of your own offers: the bond pays that of the seller's"
	}
	return fmt.Sprintf("%s; a bond of %s would pay the decay of the seller's offers: --propose-bond", text, c.ProposedBond)
}
