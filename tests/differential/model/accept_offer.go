package model

type AcceptOffer struct {
	Acceptor           Address `account:"signer"`
	Negotiation        Address `account:"writable,negotiation"`
	EscrowVault        Address `account:"writable"`
	BuyerTokenAccount  Address `account:"writable"`
	SellerTokenAccount Address `account:"writable"`
	TokenMint          Address `account:""`
	TokenProgram       Address `account:""`

	CreatedAt        int64
	ExpectedRound    uint8
	ExpectedAmount   uint64
	ExpectedMetadata [64]byte
}

func (i *AcceptOffer) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	wrong := e.checkEscrow(i.Negotiation, n)
	to := e.recipients(n, &wrong)
	side, isParty := n.SideOf(i.Acceptor)
	asExpected := i.CreatedAt == n.CreatedAt && i.ExpectedRound == n.CurrentRound &&
		i.ExpectedAmount == n.CurrentOfferAmount && i.ExpectedMetadata == n.Metadata
	if err := firstError(
		wrong.first(),
		failIf(n.hasNoZone(), NoZopa),
		failIf(!n.IsBargaining() || !n.HasOffer(), InvalidState),
		e.checkTurnClock(n),
		failIf(!isParty, Unauthorized),
		failIf(!asExpected, StaleState),
		failIf(n.CurrentOfferBy == i.Acceptor, NotYourTurn),
	); err != nil {
		return err
	}

	e.noteAcceptance(i.Negotiation, n, side)
	e.log("OfferAccepted", "negotiation_id", i.Negotiation, "accepted_by", i.Acceptor,
		"amount", n.CurrentOfferAmount, "round", n.CurrentRound, "timestamp", e.now())
	n.SettledAmount = n.CurrentOfferAmount
	amounts := [2]uint64{Buyer: n.EffectiveEscrow - n.SettledAmount}
	if n.MilestoneCount() > 0 {
		n.Status = StatusAccepted
	} else {
		amounts[Seller], _ = n.payGross(n.SettledAmount)
		e.settle(i.Negotiation, n)
		amounts = addAmounts(amounts, e.settleBond(i.Negotiation, n, 0, BondSettlement))
	}
	e.pay(i.Negotiation, n, amounts, to)
	return nil
}

func (e *execution) noteAcceptance(address Address, n *Negotiation, side int) {
	e.note("accepted by the " + sideNames[side])
	if n.CurrentOfferBy == address {
		e.note("midpoint accepted by the " + sideNames[side])
	}
	if n.CurrentOfferAmount == n.EffectiveEscrow {
		e.note("accepted for the whole effective escrow")
	}
	if n.CurrentRound == n.MaxRounds {
		e.note("accepted after the last round")
	}
	if n.MilestoneCount() > 0 {
		e.note("accepted with milestones")
	}
}
