package protocol

// Agreement is a transaction of settle_by_agreement that one party has prepared and the other one can complete.
type Agreement struct {
	// Terms are the instruction's terms.
	Terms SettleByAgreement
	// Negotiation is the state that the amounts follow from.
	Negotiation *Negotiation
	// Amounts are the parties' amounts.
	Amounts AgreementAmounts
}

// AgreementAmounts are the parties' amounts, in base units of the mint.
type AgreementAmounts struct {
	// ToSeller is the seller's amount for the undecided part of the price, after Fee.
	ToSeller uint64
	// Fee is the protocol's fee on it.
	Fee uint64
	// ToBuyer is the buyer's amount of the undecided part of the price.
	ToBuyer uint64
	// BondToBuyer and BondToSeller are the shares when a bond is held.
	BondToBuyer, BondToSeller uint64
}

// AgreementAmounts returns an agreement's amounts given the shares, in basis points up to 10,000, as the
// program computes them from the negotiation's state.
func (v *Negotiation) AgreementAmounts(sellerBps, bondToBuyerBps uint16) AgreementAmounts {
	undecided, bond := v.Undecided(), v.HeldBond()
	gross, bondToBuyer := ShareOf(undecided, sellerBps, 0), ShareOf(bond, bondToBuyerBps, 0)
	fee := v.FeeOnPart(gross)
	return AgreementAmounts{
		ToSeller: gross - fee, Fee: fee, ToBuyer: undecided - gross, BondToBuyer: bondToBuyer, BondToSeller: bond - bondToBuyer,
	}
}
