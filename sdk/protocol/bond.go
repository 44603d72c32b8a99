package protocol

// BondForDelay returns the part of the held bond that compensates the buyer for decay caused by the seller's
// offers so far if there is no deal, in the mint's base units. It never exceeds the bond.
func (v *Negotiation) BondForDelay() uint64 { return min(v.sellersDelay(v.evenRound), v.HeldBond()) }

// BondAfterRejection returns the part of the held bond that goes to the buyer if the given side rejects now,
// in the mint's base units: the whole bond if rejecting forfeits it, otherwise [Negotiation.BondForDelay].
func (v *Negotiation) BondAfterRejection(by OfferSide) uint64 {
	if by == OfferSideSeller && v.RejectionForfeitsBond() {
		return v.HeldBond()
	}
	return v.BondForDelay()
}

// BondAfterExpiry returns the part of the held bond that goes to the buyer if the negotiation expires when
// the current turn ends, in the mint's base units: the whole bond if the seller owes a reveal, otherwise the
// decay caused by the seller's offers, but no more than the bond. If the turn lasts a whole response window,
// the side that lets it run out bears the latest offer's decay, whoever made the offer.
func (v *Negotiation) BondAfterExpiry() uint64 {
	if v.SellerOwesReveal() {
		return v.HeldBond()
	}
	isSellers := v.evenRound
	if v.TurnDeadline-v.LastOfferAt == v.ResponseWindow {
		silent := v.Turn()
		isSellers = func(round uint8) bool {
			if round == v.CurrentRound {
				return silent == OfferSideSeller
			}
			return v.evenRound(round)
		}
	}
	return min(v.sellersDelay(isSellers), v.HeldBond())
}

// evenRound reports whether the seller makes the round's offer.
func (v *Negotiation) evenRound(round uint8) bool { return round%2 == 0 }

// sellersDelay returns the decay in the seller's rounds.
func (v *Negotiation) sellersDelay(isSellers func(round uint8) bool) (total uint64) {
	escrow := v.EscrowAmount
	for round := uint8(1); round <= v.CurrentRound && round <= MaxRounds; round++ {
		decay := ShareOf(escrow, v.DecayRateBps, BpsDenominator/2)
		escrow -= min(decay, escrow)
		if isSellers(round) {
			total += decay
		}
	}
	return total
}

// ProposedBond returns the least bond that pays the seller's delay whenever no deal is reached, in the mint's
// base units: the decay of all offers that the seller makes or leaves unanswered.
func ProposedBond(escrow uint64, maxRounds uint8, decayRateBps uint16) (most uint64) {
	n := Negotiation{EscrowAmount: escrow, DecayRateBps: decayRateBps, MaxRounds: maxRounds}
	for n.CurrentRound < min(maxRounds, MaxRounds) {
		n.CurrentRound++
		most = max(most, n.sellersDelay(n.evenRound), n.sellersDelay(func(round uint8) bool {
			return n.evenRound(round) || round == n.CurrentRound
		}))
	}
	return most
}
