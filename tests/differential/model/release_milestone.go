package model

import "strconv"

type ReleaseMilestone struct {
	Releaser           Address `account:"signer"`
	Negotiation        Address `account:"writable,negotiation"`
	EscrowVault        Address `account:"writable"`
	BuyerTokenAccount  Address `account:"writable,optional"`
	SellerTokenAccount Address `account:"writable"`
	TokenMint          Address `account:""`
	TokenProgram       Address `account:""`

	CreatedAt int64
	Index     uint8
}

func (i *ReleaseMilestone) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	wrong := e.checkEscrow(i.Negotiation, n)
	to := e.recipients(n, &wrong)
	inReview := e.now() < n.TurnDeadline
	if err := firstError(
		wrong.first(),
		failIf(i.Index >= n.MilestoneCount(), InvalidParams),
		failIf(n.Status != StatusAccepted || n.UnderReview() != milestoneBit(i.Index), InvalidState),
		failIf(inReview && i.Releaser != n.Parties[Buyer], Unauthorized),
		failIf(i.CreatedAt != n.CreatedAt, StaleState),
	); err != nil {
		return err
	}
	net, fee := n.decide(i.Index, n.Tranche(i.Index))
	if n.allDecided() && n.BondState == BondHeld && n.unpaidBond(0) > 0 {
		if err := e.require("buyer_token_account"); err != nil {
			return err
		}
	}
	e.log("MilestoneReleased", "negotiation_id", i.Negotiation, "index", i.Index, "seller_amount", net,
		"fee", fee, "timestamp", e.now())
	if inReview {
		e.note("milestone released in review")
	} else {
		e.note("milestone released after silence")
	}
	e.payTranches(i.Negotiation, n, [2]uint64{Seller: net}, 0, to)
	return nil
}

// payTranches pays decided tranches. If all milestones are decided, it settles negotiation and bond.
// undecidedHalves is the sum of the buyer's halves of disputes that the arbiter did not decide.
func (e *execution) payTranches(address Address, n *Negotiation, amounts [2]uint64, undecidedHalves uint64,
	to [2]recipient) {
	if n.allDecided() {
		e.settle(address, n)
		e.note("settled after " + strconv.Itoa(int(n.MilestoneCount())) + " milestones")
		amounts = addAmounts(amounts, e.settleBond(address, n, n.unpaidBond(undecidedHalves), BondSettlement))
	}
	e.pay(address, n, amounts, to)
}
