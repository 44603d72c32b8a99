package onchain

import (
	"fmt"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// DealCost is a deal's cost to the buyer, in base units: the price plus all offers' decay.
type DealCost struct {
	Price, Decay uint64
	// Offers is the number of offers by both sides until the deal.
	Offers uint8
}

// Total returns the price plus the decay.
func (c DealCost) Total() uint64 { return c.Price + c.Decay }

// DealCosts returns a deal's costs after one offer, half of the offers and all offers. The price is half of
// the escrow, or the remaining escrow value after the last offer, whichever is lower.
func DealCosts(terms *protocol.NegotiationParams) (costs []DealCost) {
	n := protocol.Negotiation{EscrowAmount: terms.EscrowAmount, DecayRateBps: terms.DecayRateBps}
	price := min(terms.EscrowAmount/2, terms.EscrowAmount-n.DecayAfter(int(terms.MaxRounds)))
	for _, offers := range slices.Compact([]uint8{1, (terms.MaxRounds + 1) / 2, terms.MaxRounds}) {
		costs = append(costs, DealCost{Price: price, Decay: n.DecayAfter(int(offers)), Offers: offers})
	}
	return costs
}

// NoDealCost is the buyer's highest cost if there is no deal, in base units.
type NoDealCost struct {
	Most uint64
	// ProposedBond is the bond that pays the seller's part: see [protocol.ProposedBond]. Bonded reports
	// whether the terms require this bond.
	ProposedBond uint64
	Bonded       bool
}

// NoDealCostOf returns the cost if there is no deal after all offers: the total decay, less the part paid by
// the bond if the buyer rejects the last offer.
func NoDealCostOf(terms *protocol.NegotiationParams) NoDealCost {
	n := protocol.Negotiation{
		EscrowAmount: terms.EscrowAmount, DecayRateBps: terms.DecayRateBps, CurrentRound: terms.MaxRounds,
		BondRequired: terms.BondRequired, BondState: protocol.BondStateHeld,
	}
	// The bond never pays more than an offer costs, hence no earlier end costs more.
	most := n.DecayAfter(int(terms.MaxRounds)) - n.BondAfterRejection(protocol.OfferSideBuyer)
	proposed := protocol.ProposedBond(terms.EscrowAmount, terms.MaxRounds, terms.DecayRateBps)
	return NoDealCost{Most: most, ProposedBond: proposed, Bonded: terms.BondRequired >= proposed}
}

// LastOfferWarning warns about an even number of offers, where the seller makes the last offer; nil for an
// odd number. argument names the flag or argument that sets the number. See docs/RESEARCH.md.
func LastOfferWarning(rounds uint8, argument string) error {
	if rounds%2 == 1 {
		return nil
	}
	return fmt.Errorf("with %d offers the seller makes the last one, and can demand all that the escrow still "+
		"covers: use %s %d, so that the buyer makes the last one", rounds, argument, rounds-1)
}
