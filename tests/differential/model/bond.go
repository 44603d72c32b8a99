package model

// Values of BondSettled's reason.
const (
	BondSettlement uint8 = iota
	BondNoDeal
	BondForfeit
	BondAgreement
)

// delays returns the decay that each side bears if there is no deal: its own offers' decay. If a side let a whole
// response window after the latest offer run out, that offer's decay is its own instead, whoever made it. missed reports
// whether the turn is over.
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

// delayed returns what the bond pays for the seller's delay.
func (n *Negotiation) delayed(missed bool) uint64 {
	return min(n.delays(missed)[Seller], n.BondRequired)
}
