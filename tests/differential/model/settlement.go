package model

// settle ends a negotiation with a price.
func (e *execution) settle(address Address, n *Negotiation) {
	n.Status = StatusSettled
	n.SettledAt = e.now()
	e.log("NegotiationSettled", "negotiation_id", address, "buyer", n.Parties[Buyer],
		"seller", n.Parties[Seller], "settled_amount", n.PaidGross, "total_rounds", n.CurrentRound,
		"protocol_fee", n.fee(), "escrow_decay_total", n.decay(), "timestamp", e.now(),
		"token_mint", n.TokenMint, "service_hash", n.ServiceHash, "metadata", n.Metadata)
}

// refund ends a negotiation that found no price: the buyer gets the effective escrow, and this part of the
// bond if it is held.
func (e *execution) refund(address Address, n *Negotiation, bondToBuyer uint64, reason uint8, to [2]recipient) {
	amounts := addAmounts([2]uint64{Buyer: n.EffectiveEscrow}, e.settleBond(address, n, bondToBuyer, reason))
	e.pay(address, n, amounts, to)
}

// settleBond divides a held bond: toBuyer base units for the buyer, the rest for the seller. It returns both
// parts.
func (e *execution) settleBond(address Address, n *Negotiation, toBuyer uint64, reason uint8) [2]uint64 {
	if n.BondState != BondHeld {
		return [2]uint64{}
	}
	parts := [2]uint64{Buyer: toBuyer, Seller: n.BondRequired - toBuyer}
	switch {
	case parts[Buyer] == 0:
		n.BondState = BondReturned
		e.note("bond returned")
	case parts[Seller] == 0:
		n.BondState = BondForfeited
		e.note("bond forfeited")
	default:
		n.BondState = BondSplit
		e.note("bond split")
	}
	for side, part := range parts {
		if part > 0 {
			e.log("BondSettled", "negotiation_id", address, "to", n.Parties[side], "amount", part,
				"timestamp", e.now(), "reason", reason)
		}
	}
	return parts
}

// decide decides a milestone with a gross payment to the seller. It returns net payment and fee, which is the
// growth of the fee on all gross payments.
func (n *Negotiation) decide(index uint8, gross uint64) (net, fee uint64) {
	n.MilestonesDecided |= 1 << index
	return n.payGross(gross)
}

// payGross adds a gross payment. It returns net payment and fee.
func (n *Negotiation) payGross(gross uint64) (net, fee uint64) {
	before := n.fee()
	n.PaidGross += gross
	fee = n.fee() - before
	return gross - fee, fee
}

// unpaidBond returns the buyer's bond part at settlement: floor(bond * R / price), where R is the price less
// all gross payments and the buyer's halves of disputes that the arbiter did not decide.
func (n *Negotiation) unpaidBond(undecidedHalves uint64) uint64 {
	refused := n.SettledAmount - n.PaidGross - undecidedHalves
	return mulDiv(n.BondRequired, refused, n.SettledAmount)
}

func (n *Negotiation) allDecided() bool { return n.MilestonesDecided == n.AllMilestones() }
