package model

import "strings"

type SettleDeadline struct {
	Negotiation        Address `account:"writable,negotiation"`
	EscrowVault        Address `account:"writable"`
	BuyerTokenAccount  Address `account:"writable"`
	SellerTokenAccount Address `account:"writable"`
	TokenMint          Address `account:""`
	TokenProgram       Address `account:""`
}

func (i *SettleDeadline) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	wrong := e.checkEscrow(i.Negotiation, n)
	to := e.recipients(n, &wrong)
	from := n.MilestoneDeadline
	if n.OpenDisputes() != 0 {
		from = n.ArbiterDeadline()
	}
	if err := firstError(
		wrong.first(),
		failIf(n.Status != StatusAccepted || e.now() < from, InvalidState),
	); err != nil {
		return err
	}

	s := n.settleUndecided()
	e.log("DeadlineSettled", "negotiation_id", i.Negotiation, "released", s.released, "split", s.split,
		"refunded", s.refunded, "seller_amount", s.amounts[Seller], "fee", s.fee,
		"buyer_amount", s.amounts[Buyer], "timestamp", e.now())
	e.note("deadline settled: " + s.String())
	e.payTranches(i.Negotiation, n, s.amounts, s.undecidedHalves, to)
	return nil
}

// deadlineSettlement is settle_deadline's result.
type deadlineSettlement struct {
	// The masks of the milestones that were claimed, disputed and neither.
	released, split, refunded uint8
	// amounts are net of the fee.
	amounts [2]uint64
	fee     uint64
	// undecidedHalves is the buyer's part of the disputed tranches.
	undecidedHalves uint64
}

// settleUndecided decides all milestones that are not decided. It pays claimed tranches to the seller, splits
// disputed tranches, with the odd unit for the buyer, and refunds the others.
func (n *Negotiation) settleUndecided() deadlineSettlement {
	var s deadlineSettlement
	claimed, disputed, decided := n.UnderReview(), n.OpenDisputes(), n.MilestonesDecided
	for index := range n.MilestoneCount() {
		bit := milestoneBit(index)
		if decided&bit != 0 {
			continue
		}
		tranche := n.Tranche(index)
		var gross uint64
		switch {
		case claimed&bit != 0:
			gross = tranche
			s.released |= bit
		case disputed&bit != 0:
			gross = tranche / 2
			s.split |= bit
			s.undecidedHalves += tranche - gross
		default:
			s.refunded |= bit
		}
		net, fee := n.decide(index, gross)
		s.amounts = addAmounts(s.amounts, [2]uint64{Buyer: tranche - gross, Seller: net})
		s.fee += fee
	}
	return s
}

func (s *deadlineSettlement) String() string {
	describe := func(mask uint8, name string) string {
		if mask == 0 {
			return "no " + name
		}
		return name
	}
	return strings.Join([]string{
		describe(s.released, "claim"), describe(s.split, "dispute"), describe(s.refunded, "refund"),
	}, ", ")
}
