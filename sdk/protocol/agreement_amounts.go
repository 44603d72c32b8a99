package protocol

// AgreementAmounts are the parties' amounts, in base units of the mint.
type AgreementAmounts struct {
	// ToSeller is the seller's amount for the undecided part of the price, after Fee.
	ToSeller uint64
	// Fee is the protocol's fee on it.
	Fee uint64
	// ToBuyer is the buyer's amount of the undecided part of the price.
	ToBuyer uint64
	// BondToBuyer and BondToSeller are the parts of a held bond.
	BondToBuyer, BondToSeller uint64
}

// AgreementAmounts returns the amounts of an agreement with these shares, in basis points up to 10,000, as
// the program computes them from the negotiation's state.
func (v *Negotiation) AgreementAmounts(sellerBps, bondToBuyerBps uint16) AgreementAmounts {
	undecided, bond := v.Undecided(), v.HeldBond()
	gross, bondToBuyer := ShareOf(undecided, sellerBps, 0), ShareOf(bond, bondToBuyerBps, 0)
	fee := v.FeeOn(v.PaidGross+gross) - v.FeeOn(v.PaidGross)
	return AgreementAmounts{
		ToSeller: gross - fee, Fee: fee, ToBuyer: undecided - gross, BondToBuyer: bondToBuyer, BondToSeller: bond - bondToBuyer,
	}
}
