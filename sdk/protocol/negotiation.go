package protocol

import "github.com/gagliardetto/solana-go"

// DecodeVersioned decodes an account's data, and returns a [*DecodeError] with [ErrOutOfRange] for a layout of another
// version than NegotiationVersion.
func (v *Negotiation) DecodeVersioned(data []byte) error {
	if err := v.Decode(data); err != nil {
		return err
	}
	if v.Version != NegotiationVersion {
		return outOfRange("Negotiation", "Version", v.Version)
	}
	return nil
}

// SideOf is the side that an agent is on; false for anyone but the two parties.
func (v *Negotiation) SideOf(agent solana.PublicKey) (OfferSide, bool) {
	switch agent {
	case v.Buyer:
		return OfferSideBuyer, true
	case v.Seller:
		return OfferSideSeller, true
	}
	return 0, false
}

// Party is who is on a side.
func (v *Negotiation) Party(side OfferSide) solana.PublicKey {
	if side == OfferSideBuyer {
		return v.Buyer
	}
	return v.Seller
}

// IsBargaining reports whether offers can be made: the seller takes part and nothing is decided.
func (v *Negotiation) IsBargaining() bool {
	return v.Status == NegotiationStatusProposed || v.Status == NegotiationStatusCountered
}

// IsOpen reports whether the negotiation can still be acted on, or expire.
func (v *Negotiation) IsOpen() bool {
	return v.Status == NegotiationStatusCreated || v.IsBargaining()
}

// IsAgreed reports whether a price is agreed on and is being paid by milestones.
func (v *Negotiation) IsAgreed() bool { return v.Status == NegotiationStatusAccepted }

// IsOver reports whether nothing but paying out and closing is left.
func (v *Negotiation) IsOver() bool {
	return v.Status == NegotiationStatusSettled || v.Status == NegotiationStatusExpired || v.Status == NegotiationStatusRejected
}

// HasOffer reports whether an offer has been made, or a midpoint found.
func (v *Negotiation) HasOffer() bool { return !v.CurrentOfferBy.IsZero() }

// Turn is the side that has to move: in the comparison of reservation prices the one whose step it is, afterwards the one that
// makes the next offer, which the buyer opens and then alternates. It is also the side that can accept the latest offer, except
// that either can accept a midpoint: see [Negotiation.CanAccept].
func (v *Negotiation) Turn() OfferSide {
	if side, ok := v.ZopaStep().Side(); ok {
		return side
	}
	if v.CurrentRound == 0 || v.OfferSide == OfferSideSeller {
		return OfferSideBuyer
	}
	return OfferSideSeller
}

// CanAccept reports whether there is an offer that a side can accept: the other side's, or the midpoint.
func (v *Negotiation) CanAccept(side OfferSide) bool {
	return v.IsBargaining() && v.HasOffer() && (v.HasMidpoint() || v.Turn() == side)
}

// RoundsLeft is how many offers can still be made.
func (v *Negotiation) RoundsLeft() uint8 { return v.MaxRounds - min(v.CurrentRound, v.MaxRounds) }

// IsOverdue reports whether the time to act has passed at a time in Unix seconds of the chain's clock: from then on the
// negotiation can only expire.
func (v *Negotiation) IsOverdue(now int64) bool { return now >= v.TurnDeadline }

// EscrowAfterRound is what the escrow will be worth after one more offer, in base units of the mint. The decay of a round is
// rounded to the nearest unit, halves up.
func (v *Negotiation) EscrowAfterRound() uint64 {
	return v.EffectiveEscrow - ShareOf(v.EffectiveEscrow, v.DecayRateBps, BpsDenominator/2)
}

// OfferRange is the least and the most that the next offer can be, in base units of the mint.
func (v *Negotiation) OfferRange() (least, most uint64) {
	most = v.EscrowAfterRound()
	return ShareOf(most, v.MinOfferBps, 0), most
}

// FeeOn is the protocol's part of a price, in base units of the mint, rounded down. The seller gets the rest.
func (v *Negotiation) FeeOn(price uint64) uint64 { return ShareOf(price, v.ProtocolFeeBps, 0) }

// Decay is what the escrow has lost over all rounds so far, in base units of the mint.
func (v *Negotiation) Decay() uint64 { return v.EscrowAmount - min(v.EffectiveEscrow, v.EscrowAmount) }

// HeldBond is what of the vault is the seller's bond, in base units of the mint; zero unless one is held.
func (v *Negotiation) HeldBond() uint64 {
	if v.BondState != BondStateHeld {
		return 0
	}
	return v.BondRequired
}

// shareOf is a share in basis points, computed as the program does: from quotient and remainder, so that it is exact and cannot
// overflow up to 10,000 basis points. A higher rate, which the program does not store, counts as that.
func ShareOf(amount uint64, bps uint16, rounding uint64) uint64 {
	share := min(uint64(bps), BpsDenominator)
	return amount/BpsDenominator*share + (amount%BpsDenominator*share+rounding)/BpsDenominator
}

// ClaimableOf is what is kept for a party because it could not be paid, in base units of the mint; zero for anyone else.
func (v *Negotiation) ClaimableOf(party solana.PublicKey) uint64 {
	side, ok := v.SideOf(party)
	switch {
	case !ok:
		return 0
	case side == OfferSideBuyer:
		return v.ClaimableBuyer
	default:
		return v.ClaimableSeller
	}
}
