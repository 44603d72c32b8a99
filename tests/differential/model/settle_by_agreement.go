package model

type SettleByAgreement struct {
	Buyer              Address `account:"signer"`
	Seller             Address `account:"signer"`
	Negotiation        Address `account:"writable,negotiation"`
	EscrowVault        Address `account:"writable"`
	BuyerTokenAccount  Address `account:"writable"`
	SellerTokenAccount Address `account:"writable"`
	TokenMint          Address `account:""`
	TokenProgram       Address `account:""`

	CreatedAt       int64
	ExpectedDecided uint8
	ValidUntil      int64
	SellerBps       uint16
	BondToBuyerBps  uint16
}

func (i *SettleByAgreement) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	wrong := e.checkEscrow(i.Negotiation, n)
	wrong.stored = wrong.stored || i.Buyer != n.Parties[Buyer] || i.Seller != n.Parties[Seller]
	to := e.recipients(n, &wrong)
	withoutBond := i.BondToBuyerBps > 0 && n.BondState != BondHeld
	if err := firstError(
		wrong.first(),
		failIf(i.SellerBps > maxBps || i.BondToBuyerBps > maxBps, InvalidParams),
		failIf(n.Status != StatusAccepted || withoutBond, InvalidState),
		failIf(e.now() >= i.ValidUntil, Expired),
		failIf(i.CreatedAt != n.CreatedAt || i.ExpectedDecided != n.MilestonesDecided, StaleState),
	); err != nil {
		return err
	}

	e.noteAgreement(n, i)
	undecided := n.Undecided()
	gross := floorBps(undecided, i.SellerBps)
	net, fee := n.payGross(gross)
	n.MilestonesDecided = n.AllMilestones()
	amounts := [2]uint64{Buyer: undecided - gross, Seller: net}
	var bondToBuyer uint64
	if n.BondState == BondHeld {
		bondToBuyer = floorBps(n.BondRequired, i.BondToBuyerBps)
	}
	e.log("AgreementSettled", "negotiation_id", i.Negotiation, "seller_amount", net, "fee", fee,
		"buyer_amount", amounts[Buyer], "bond_to_buyer", bondToBuyer, "timestamp", e.now())
	e.settle(i.Negotiation, n)
	amounts = addAmounts(amounts, e.settleBond(i.Negotiation, n, bondToBuyer, BondAgreement))
	e.pay(i.Negotiation, n, amounts, to)
	return nil
}

func (e *execution) noteAgreement(n *Negotiation, i *SettleByAgreement) {
	e.note("settled by agreement")
	if n.MilestonesDecided != 0 {
		e.note("settled by agreement after decisions")
	}
	if n.OpenDisputes() != 0 {
		e.note("settled by agreement with an open dispute")
	}
	if e.now() >= n.MilestoneDeadline {
		e.note("settled by agreement after the milestone deadline")
	}
	if n.BondState == BondHeld && i.BondToBuyerBps > 0 {
		e.note("bond divided by agreement")
	}
}
