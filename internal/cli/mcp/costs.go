package mcp

import (
	"github.com/haggle-protocol/haggle/internal/cli/mint"
	"github.com/haggle-protocol/haggle/internal/cli/onchain"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Costs lists a negotiation's costs to the buyer.
type Costs struct {
	Deals   []DealCost `json:"deals" jsonschema:"examples of deals"`
	NoDeal  Amount     `json:"no_deal" jsonschema:"highest cost of an end without a deal: the decay of all offers"`
	Warning string     `json:"warning,omitempty" jsonschema:"reason to choose another number of rounds"`
}

// DealCost is a deal's cost to the buyer.
type DealCost struct {
	Price  Amount `json:"price" jsonschema:"price of the deal"`
	Offers uint8  `json:"offers" jsonschema:"number of offers of both sides until the deal"`
	Decay  Amount `json:"decay" jsonschema:"cost of these offers"`
	Total  Amount `json:"total" jsonschema:"price and decay together"`
}

func costsOf(terms *protocol.NegotiationParams, m mint.Mint) *Costs {
	costs := &Costs{NoDeal: amountOf(m, onchain.NoDealCostOf(terms).Most)}
	for _, c := range onchain.DealCosts(terms) {
		costs.Deals = append(costs.Deals, DealCost{
			Price: amountOf(m, c.Price), Offers: c.Offers, Decay: amountOf(m, c.Decay), Total: amountOf(m, c.Total()),
		})
	}
	if warning := onchain.LastOfferWarning(terms.MaxRounds, "rounds"); warning != nil {
		costs.Warning = warning.Error()
	}
	return costs
}
