package model

type RejectNegotiation struct {
	Rejector           Address `account:"signer"`
	Negotiation        Address `account:"writable,negotiation"`
	EscrowVault        Address `account:"writable"`
	BuyerTokenAccount  Address `account:"writable"`
	SellerTokenAccount Address `account:"writable,optional"`
	TokenMint          Address `account:""`
	TokenProgram       Address `account:""`

	CreatedAt     int64
	ExpectedRound uint8
}

func (i *RejectNegotiation) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	wrong := e.checkEscrow(i.Negotiation, n)
	to := e.recipients(n, &wrong)
	side, isParty := n.SideOf(i.Rejector)
	toBuyer, reason := n.delayed(false), BondNoDeal
	forfeits := side == Seller && n.rejectionForfeitsBond()
	if forfeits {
		toBuyer, reason = n.BondRequired, BondForfeit
	}
	// A seller that names an account for the bond expects to get it back.
	expectsBond := forfeits && e.given("seller_token_account")
	if err := firstError(
		wrong.first(),
		failIf(!n.IsOpen(), InvalidState),
		e.checkTurnClock(n),
		failIf(!isParty, Unauthorized),
		failIf(i.CreatedAt != n.CreatedAt || i.ExpectedRound != n.CurrentRound || expectsBond, StaleState),
	); err != nil {
		return err
	}
	// A seller that leaves the account out agrees to forfeit the bond. In every other state, even before the
	// deposit, the seller names an account.
	disagrees := side == Seller && !forfeits && n.BondRequired > 0
	if disagrees || n.BondState == BondHeld && toBuyer < n.BondRequired {
		if err := e.require("seller_token_account"); err != nil {
			return err
		}
	}
	e.note("rejected by the " + sideNames[side] + " " + n.phase())
	e.reject(i.Negotiation, n, i.Rejector, toBuyer, reason, to)
	return nil
}

func (e *execution) reject(address Address, n *Negotiation, rejectedBy Address, bondToBuyer uint64, reason uint8, to [2]recipient) {
	n.Status = StatusRejected
	e.log("NegotiationRejected", "negotiation_id", address, "rejected_by", rejectedBy,
		"refund_amount", n.EffectiveEscrow, "rounds_completed", n.CurrentRound, "timestamp", e.now())
	e.refund(address, n, bondToBuyer, reason, to)
}

// phase describes an open negotiation in outcomes.
func (n *Negotiation) phase() string {
	switch {
	case n.Status == StatusCreated:
		return "while Created"
	case n.sellerOwesReveal():
		return "instead of the seller's reveal"
	case n.ZopaPending():
		return "before the reveals"
	case n.CurrentRound == 0 && n.HasOffer():
		return "while the midpoint stands"
	case !n.HasOffer():
		return "before the first offer"
	case n.Status == StatusProposed:
		return "while Proposed"
	}
	return "while Countered"
}
