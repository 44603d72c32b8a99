package onchain

import (
	"fmt"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// DealCost is the cost of a deal to the buyer, in base units: the price and the decay of all offers.
type DealCost struct {
	Price, Decay uint64
	// Offers is the number of offers of both sides until the deal.
	Offers uint8
}

// Total returns the price and the decay together.
func (c DealCost) Total() uint64 { return c.Price + c.Decay }

// DealCosts returns the costs of a deal after the first offer, half of the offers and all offers. The price is
// half of the escrow, or the value of the escrow after the last offer if that is lower.
func DealCosts(terms *protocol.NegotiationParams) (costs []DealCost) {
	n := protocol.Negotiation{EscrowAmount: terms.EscrowAmount, DecayRateBps: terms.DecayRateBps}
	price := min(terms.EscrowAmount/2, terms.EscrowAmount-n.DecayAfter(int(terms.MaxRounds)))
	for _, offers := range slices.Compact([]uint8{1, (terms.MaxRounds + 1) / 2, terms.MaxRounds}) {
		costs = append(costs, DealCost{Price: price, Decay: n.DecayAfter(int(offers)), Offers: offers})
	}
	return costs
}

// NoDealCost is the highest cost of an end without a deal to the buyer, in base units.
type NoDealCost struct {
	Most uint64
	// ProposedBond is the bond that pays the seller's part of it: see [protocol.ProposedBond]. Bonded reports
	// whether the terms require this bond.
	ProposedBond uint64
	Bonded       bool
}

// NoDealCostOf returns the cost of an end without a deal after all offers: their decay, less the part that the
// bond pays if the buyer rejects the last one.
func NoDealCostOf(terms *protocol.NegotiationParams) NoDealCost {
	n := protocol.Negotiation{
		EscrowAmount: terms.EscrowAmount, DecayRateBps: terms.DecayRateBps, CurrentRound: terms.MaxRounds,
		BondRequired: terms.BondRequired, BondState: protocol.BondStateHeld,
	}
	// The bond never pays more than an offer costs, so that no earlier end costs more.
	most := n.DecayAfter(int(terms.MaxRounds)) - n.BondAfterRejection(protocol.OfferSideBuyer)
	proposed := protocol.ProposedBond(terms.EscrowAmount, terms.MaxRounds, terms.DecayRateBps)
	return NoDealCost{Most: most, ProposedBond: proposed, Bonded: terms.BondRequired >= proposed}
}

// LastOfferWarning warns of an even number of offers, where the seller makes the last one; nil for an odd
// number. argument is the name of the flag or argument that sets the number. See docs/RESEARCH.md.
func LastOfferWarning(rounds uint8, argument string) error {
	if rounds%2 == 1 {
		return nil
	}
	return fmt.Errorf("with %d offers the seller makes the last one, and can demand all that the escrow still "+
		"covers: use %s %d, so that the buyer makes the last one", rounds, argument, rounds-1)
}
