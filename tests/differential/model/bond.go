package model

// Values of BondSettled's reason.
const (
	BondSettlement uint8 = iota
	BondNoDeal
	BondForfeit
	BondAgreement
)

// delays computes each side's decay if there is no deal: the decay from the side's offers. If a side let a
// whole response window pass after the latest offer, it bears that offer's decay instead, whoever made the
// offer. missed is true once the turn is over.
func (n *Negotiation) delays(missed bool) (borne [2]uint64) {
	worth := n.EscrowAmount
	for offer := range n.CurrentRound {
		after := worth - roundBps(worth, n.DecayRateBps)
		side := Buyer
		if offer%2 == 1 {
			side = Seller
		}
		isLatest := offer+1 == n.CurrentRound
		if isLatest && missed && n.TurnDeadline-n.LastOfferAt == n.ResponseWindow {
			side = n.Turn()
		}
		borne[side] += worth - after
		worth = after
	}
	return borne
}

// delayed returns the bond's payment for the seller's delay.
func (n *Negotiation) delayed(missed bool) uint64 {
	return min(n.delays(missed)[Seller], n.BondRequired)
}
