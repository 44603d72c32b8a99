package protocol

// BondForDelay returns the part of a held bond that pays the buyer the decay of the seller's offers so far if there is
// no deal, in base units of the mint. It is at most the bond.
func (v *Negotiation) BondForDelay() uint64 { return min(v.sellersDelay(v.evenRound), v.HeldBond()) }

// BondAfterRejection returns the part of a held bond that the buyer gets if a side rejects now, in base units of the
// mint: all of it where the rejection forfeits the bond, otherwise [Negotiation.BondForDelay].
func (v *Negotiation) BondAfterRejection(by OfferSide) uint64 {
	if by == OfferSideSeller && v.RejectionForfeitsBond() {
		return v.HeldBond()
	}
	return v.BondForDelay()
}

// BondAfterExpiry returns the part of a held bond that the buyer gets if the negotiation expires at the end of the
// current turn, in base units of the mint: all of it if the seller owes a reveal, otherwise the decay of the seller's
// offers, at most the bond. If the turn lasts a whole response window, the side that lets it run out bears the decay of
// the latest offer, whoever made it.
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

// evenRound reports whether the seller makes the offer of a round.
func (v *Negotiation) evenRound(round uint8) bool { return round%2 == 0 }

// sellersDelay returns the decay of the rounds that are the seller's.
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

// ProposedBond returns the least bond that pays the seller's delay at every end without a deal, in base units of the
// mint: the decay of all offers that the seller makes, or leaves without an answer.
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
