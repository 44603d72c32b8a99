package protocol

import "github.com/gagliardetto/solana-go"

// NegotiationRent is the rent for a negotiation's account, in lamports. The vault's rent is not included.
const NegotiationRent = 4_454_400

// DecodeVersioned decodes an account's data, and returns a [*DecodeError] with [ErrOutOfRange] for a layout
// of another version than NegotiationVersion.
func (v *Negotiation) DecodeVersioned(data []byte) error {
	if err := v.Decode(data); err != nil {
		return err
	}
	if v.Version != NegotiationVersion {
		return outOfRange("Negotiation", "Version", v.Version)
	}
	return nil
}

// SideOf returns an agent's side. The second result is false for anyone but the parties.
func (v *Negotiation) SideOf(agent solana.PublicKey) (OfferSide, bool) {
	switch agent {
	case v.Buyer:
		return OfferSideBuyer, true
	case v.Seller:
		return OfferSideSeller, true
	}
	return 0, false
}

// Party returns the party on a side.
func (v *Negotiation) Party(side OfferSide) solana.PublicKey {
	if side == OfferSideBuyer {
		return v.Buyer
	}
	return v.Seller
}

// IsBargaining reports whether offers can be made: the seller has joined, and there is no agreement or end.
func (v *Negotiation) IsBargaining() bool {
	return v.Status == NegotiationStatusProposed || v.Status == NegotiationStatusCountered
}

// IsOpen reports whether the negotiation accepts actions, or can expire.
func (v *Negotiation) IsOpen() bool {
	return v.Status == NegotiationStatusCreated || v.IsBargaining()
}

// IsAgreed reports whether the price is agreed and is being paid by milestones.
func (v *Negotiation) IsAgreed() bool { return v.Status == NegotiationStatusAccepted }

// IsOver reports whether only payouts and the closing remain.
func (v *Negotiation) IsOver() bool {
	return v.Status == NegotiationStatusSettled || v.Status == NegotiationStatusExpired || v.Status == NegotiationStatusRejected
}

// HasOffer reports whether there is an offer or a midpoint.
func (v *Negotiation) HasOffer() bool { return !v.CurrentOfferBy.IsZero() }

// Turn returns the side whose turn it is: while reservation prices are compared, the side that takes the next
// step, afterwards the side that makes the next offer, beginning with the buyer and then alternating. Only
// that side can accept the latest offer, except that either side can accept a midpoint: see
// [Negotiation.CanAccept].
func (v *Negotiation) Turn() OfferSide {
	if side, ok := v.ZopaStep().Side(); ok {
		return side
	}
	if v.CurrentRound == 0 || v.OfferSide == OfferSideSeller {
		return OfferSideBuyer
	}
	return OfferSideSeller
}

// CanAccept reports whether the side can accept the current offer: the counterparty's, or the midpoint.
func (v *Negotiation) CanAccept(side OfferSide) bool {
	return v.IsBargaining() && v.HasOffer() && (v.HasMidpoint() || v.Turn() == side)
}

// RoundsLeft returns the number of further offers.
func (v *Negotiation) RoundsLeft() uint8 { return v.MaxRounds - min(v.CurrentRound, v.MaxRounds) }

// IsOverdue reports whether the deadline has passed at a time in Unix seconds of the chain's clock: from then
// on the negotiation can only expire.
func (v *Negotiation) IsOverdue(now int64) bool { return now >= v.TurnDeadline }

// EscrowAfterRound returns the escrow value after one more offer, in the mint's base units. Each round's
// decay is rounded to the nearest unit, halves up.
func (v *Negotiation) EscrowAfterRound() uint64 {
	return v.EffectiveEscrow - ShareOf(v.EffectiveEscrow, v.DecayRateBps, BpsDenominator/2)
}

// OfferRange returns the lowest and the highest next offer in the mint's base units.
func (v *Negotiation) OfferRange() (least, most uint64) {
	most = v.EscrowAfterRound()
	return ShareOf(most, v.MinOfferBps, 0), most
}

// FeeOn returns the protocol's part of the price, in the mint's base units, rounded down. The rest goes to
// the seller.
func (v *Negotiation) FeeOn(price uint64) uint64 { return ShareOf(price, v.ProtocolFeeBps, 0) }

// FeeOnPart returns the protocol's share of the next paid part of the price, in the mint's base units: the fee
// on all paid parts including this one, less the fee on the earlier parts. So the parts cost as much as one
// payment.
func (v *Negotiation) FeeOnPart(part uint64) uint64 {
	return v.FeeOn(v.PaidGross+part) - v.FeeOn(v.PaidGross)
}

// Decay returns the escrow's loss over all rounds so far, in the mint's base units.
func (v *Negotiation) Decay() uint64 { return v.EscrowAmount - min(v.EffectiveEscrow, v.EscrowAmount) }

// DecayAfterRound returns the escrow's loss over all rounds so far and one more offer, in the mint's base
// units.
func (v *Negotiation) DecayAfterRound() uint64 {
	return v.EscrowAmount - min(v.EscrowAfterRound(), v.EscrowAmount)
}

// DecayAfter returns the escrow's loss after the given number of offers, in the mint's base units. It follows
// from the deposit and the rate alone.
func (v *Negotiation) DecayAfter(offers int) uint64 {
	n := Negotiation{EscrowAmount: v.EscrowAmount, EffectiveEscrow: v.EscrowAmount, DecayRateBps: v.DecayRateBps}
	for range offers {
		n.EffectiveEscrow = n.EscrowAfterRound()
	}
	return n.Decay()
}

// HeldBond returns the seller's bond in the vault, in the mint's base units, or 0 if no bond is held.
func (v *Negotiation) HeldBond() uint64 {
	if v.BondState != BondStateHeld {
		return 0
	}
	return v.BondRequired
}

// ShareOf returns a share in basis points, computed as in the program: from quotient and remainder, so that
// it is exact and cannot overflow up to 10,000 basis points. Higher rates, never stored by the program, count
// as 10,000.
func ShareOf(amount uint64, bps uint16, rounding uint64) uint64 {
	share := min(uint64(bps), BpsDenominator)
	return amount/BpsDenominator*share + (amount%BpsDenominator*share+rounding)/BpsDenominator
}

// ClaimableOf returns a party's recorded payout that could not be delivered, in the mint's base units, or 0
// for anyone else.
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
