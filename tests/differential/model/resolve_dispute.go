package model

type ResolveDispute struct {
	Arbiter            Address `account:"signer"`
	Negotiation        Address `account:"writable,negotiation"`
	EscrowVault        Address `account:"writable"`
	BuyerTokenAccount  Address `account:"writable"`
	SellerTokenAccount Address `account:"writable"`
	TokenMint          Address `account:""`
	TokenProgram       Address `account:""`

	CreatedAt int64
	Index     uint8
	SellerBps uint16
}

func (i *ResolveDispute) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	wrong := e.checkEscrow(i.Negotiation, n)
	to := e.recipients(n, &wrong)
	isOpen := n.OpenDisputes()&milestoneBit(i.Index) != 0
	if err := firstError(
		wrong.first(),
		failIf(i.Index >= n.MilestoneCount() || i.SellerBps > maxBps, InvalidParams),
		failIf(n.Status != StatusAccepted || !isOpen, InvalidState),
		failIf(e.now() >= n.ArbiterDeadline(), Expired),
		failIf(i.Arbiter != n.Arbiter, Unauthorized),
		failIf(i.CreatedAt != n.CreatedAt, StaleState),
	); err != nil {
		return err
	}
	tranche := n.Tranche(i.Index)
	gross := floorBps(tranche, i.SellerBps)
	net, fee := n.decide(i.Index, gross)
	amounts := [2]uint64{Buyer: tranche - gross, Seller: net}
	e.log("DisputeResolved", "negotiation_id", i.Negotiation, "index", i.Index, "seller_amount", net,
		"fee", fee, "buyer_amount", amounts[Buyer], "timestamp", e.now())
	e.noteResolution(n, i)
	e.payTranches(i.Negotiation, n, amounts, 0, to)
	return nil
}

func (e *execution) noteResolution(n *Negotiation, i *ResolveDispute) {
	switch i.SellerBps {
	case 0:
		e.note("dispute resolved for the buyer")
	case maxBps:
		e.note("dispute resolved for the seller")
	default:
		e.note("dispute resolved with a split")
	}
	if e.now() >= n.MilestoneDeadline {
		e.note("dispute resolved after the milestone deadline")
	}
}
