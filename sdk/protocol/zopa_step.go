package protocol

// ZopaStep is a step of the comparison of reservation prices. The steps are taken in this order, each within
// a turn.
type ZopaStep uint8

// The steps.
const (
	// ZopaStepNone: there is no comparison, or it is not in progress.
	ZopaStepNone ZopaStep = iota
	ZopaStepBuyerCommits
	ZopaStepSellerCommits
	ZopaStepBuyerReveals
	ZopaStepSellerReveals
)

// Side returns the side that takes the step. The second result is false for ZopaStepNone.
func (s ZopaStep) Side() (OfferSide, bool) {
	switch s {
	case ZopaStepBuyerCommits, ZopaStepBuyerReveals:
		return OfferSideBuyer, true
	case ZopaStepSellerCommits, ZopaStepSellerReveals:
		return OfferSideSeller, true
	}
	return 0, false
}

// IsCommit reports whether the step commits to a price.
func (s ZopaStep) IsCommit() bool { return s == ZopaStepBuyerCommits || s == ZopaStepSellerCommits }

// IsReveal reports whether the step reveals a price.
func (s ZopaStep) IsReveal() bool { return s == ZopaStepBuyerReveals || s == ZopaStepSellerReveals }

func (s ZopaStep) String() string {
	switch s {
	case ZopaStepBuyerCommits:
		return "buyer commits"
	case ZopaStepSellerCommits:
		return "seller commits"
	case ZopaStepBuyerReveals:
		return "buyer reveals"
	case ZopaStepSellerReveals:
		return "seller reveals"
	}
	return "none"
}

// ZopaStep returns the next step of the comparison. Until the comparison ends, no offers can be made.
func (v *Negotiation) ZopaStep() ZopaStep {
	if v.Status != NegotiationStatusProposed || !v.ZopaEnabled {
		return ZopaStepNone
	}
	switch v.ZopaPhase {
	case ZopaPhaseNotStarted:
		return ZopaStepBuyerCommits
	case ZopaPhaseBuyerCommitted:
		return ZopaStepSellerCommits
	case ZopaPhaseBothCommitted:
		if v.BuyerPrice == 0 {
			return ZopaStepBuyerReveals
		}
		return ZopaStepSellerReveals
	}
	return ZopaStepNone
}

// CommitmentOf returns a side's commitment, or all zeros if the side did not commit yet.
func (v *Negotiation) CommitmentOf(side OfferSide) [32]byte {
	if side == OfferSideBuyer {
		return v.BuyerCommitment
	}
	return v.SellerCommitment
}

// Midpoint returns the midpoint of the buyer's revealed reservation price and the given seller's price,
// rounded down. It becomes the current offer when the seller reveals that price. Midpoint returns false if
// the buyer did not reveal a price yet, or revealed a price lower than the seller's.
func (v *Negotiation) Midpoint(sellerPrice uint64) (uint64, bool) {
	if v.BuyerPrice == 0 || v.BuyerPrice < sellerPrice {
		return 0, false
	}
	return sellerPrice + (v.BuyerPrice-sellerPrice)/2, true
}

// HasMidpoint reports whether the current offer is the midpoint of the revealed reservation prices, which has
// no offerer and which either side may accept. The buyer's first offer replaces it.
func (v *Negotiation) HasMidpoint() bool {
	return v.ZopaPhase == ZopaPhaseRevealed && v.HasOffer() && v.CurrentRound == 0
}

// EndedWithoutZone reports whether the revealed reservation prices have ended the negotiation, because the
// buyer's highest price is less than the seller's lowest.
func (v *Negotiation) EndedWithoutZone() bool {
	return v.Status == NegotiationStatusRejected && v.ZopaPhase == ZopaPhaseRevealed && v.BuyerPrice < v.SellerPrice
}

// SellerOwesReveal reports whether the seller forfeits the bond unless the seller reveals: only the buyer has
// revealed a price.
func (v *Negotiation) SellerOwesReveal() bool {
	return v.ZopaPhase == ZopaPhaseBothCommitted && v.BuyerPrice != 0
}

// RejectionForfeitsBond reports whether the seller forfeits the bond to the buyer by rejecting: the buyer has
// revealed the reservation price, and has made no offer since.
func (v *Negotiation) RejectionForfeitsBond() bool {
	return v.HeldBond() > 0 && (v.SellerOwesReveal() || v.ZopaPhase == ZopaPhaseRevealed && v.CurrentRound == 0)
}

// ReservationRange returns the lowest and the highest reservation price, in the mint's base units:
// min_offer_bps of the escrow, but at least 1, and the escrow.
func (v *Negotiation) ReservationRange() (least, most uint64) {
	return max(1, ShareOf(v.EscrowAmount, v.MinOfferBps, 0)), v.EscrowAmount
}
