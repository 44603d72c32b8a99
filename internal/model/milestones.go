package model

import "strconv"

// readIndex reads the argument that names a milestone, as a number and as a bit.
func (c *call) readIndex() (index, bit uint8) {
	c.arguments.read(&index)
	return index, 1 << (index & 7)
}

func (c *call) claimMilestone() error {
	address, n := c.negotiation()
	index, bit := c.readIndex()
	if err := first(
		refuse(index >= n.MilestoneCount, InvalidParams),
		refuse(n.Status != Accepted || n.Slot() != 0 || n.MilestonesClaimed&bit != 0, InvalidState),
		refuse(c.world.Now >= n.MilestoneDeadline, Expired),
		refuse(!between(c.world.Now, n.MilestoneDeadline, uint64(n.Review()), year), ResponseWindowExpired),
		refuse(c.signer() != n.Parties[Seller], Unauthorized),
	); err != nil {
		return err
	}
	n.MilestonesClaimed |= bit
	n.TurnDeadline = c.world.Now + n.Review()
	c.store(address, n)
	c.log("MilestoneClaimed", "negotiation_id", address, "index", index, "review_deadline", n.TurnDeadline, "timestamp", c.world.Now)
	c.happened("milestone claimed")
	return nil
}

func (c *call) disputeMilestone() error {
	address, n := c.negotiation()
	index, bit := c.readIndex()
	if err := first(
		refuse(index >= n.MilestoneCount, InvalidParams),
		refuse(n.Status != Accepted || n.Slot() != bit, InvalidState),
		refuse(c.world.Now >= n.TurnDeadline, ResponseWindowExpired),
		refuse(c.signer() != n.Parties[Buyer], Unauthorized),
	); err != nil {
		return err
	}
	n.MilestonesDisputed |= bit
	c.store(address, n)
	c.log("MilestoneDisputed", "negotiation_id", address, "index", index, "timestamp", c.world.Now)
	c.happened("milestone disputed")
	return nil
}

func (c *call) releaseMilestone() error {
	address, n := c.negotiation()
	index, bit := c.readIndex()
	wrong := c.checkEscrow(address, n)
	payees := c.payees(n, &wrong)
	inReview := c.world.Now < n.TurnDeadline
	if err := first(
		wrong.worst(),
		refuse(index >= n.MilestoneCount, InvalidParams),
		refuse(n.Status != Accepted || n.Slot() != bit, InvalidState),
		refuse(inReview && c.signer() != n.Parties[Buyer], Unauthorized),
	); err != nil {
		return err
	}
	net, fee := n.decide(index, n.trancheOf(index))
	c.log("MilestoneReleased", "negotiation_id", address, "index", index, "seller_amount", net, "fee", fee, "timestamp", c.world.Now)
	c.happened(map[bool]string{true: "milestone released in review", false: "milestone released after silence"}[inReview])
	c.finishStep(address, n, [2]uint64{Seller: net}, payees, false)
	return nil
}

func (c *call) resolveDispute() error {
	address, n := c.negotiation()
	index, bit := c.readIndex()
	var sellerBps uint16
	var forfeit bool
	c.arguments.read(&sellerBps)
	c.arguments.read(&forfeit)
	wrong := c.checkEscrow(address, n)
	payees := c.payees(n, &wrong)
	if err := first(
		wrong.worst(),
		refuse(index >= n.MilestoneCount || sellerBps > whole, InvalidParams),
		refuse(n.Status != Accepted || n.OpenDisputes()&bit == 0 || (forfeit && n.BondState != BondHeld), InvalidState),
		refuse(c.world.Now >= n.MilestoneDeadline+n.Review(), Expired),
		refuse(c.signer() != n.Arbiter, Unauthorized),
	); err != nil {
		return err
	}
	tranche := n.trancheOf(index)
	gross := floored(tranche, sellerBps)
	net, fee := n.decide(index, gross)
	c.log("DisputeResolved", "negotiation_id", address, "index", index, "seller_amount", net, "fee", fee,
		"buyer_amount", tranche-gross, "timestamp", c.world.Now)
	c.noteResolution(n, sellerBps, forfeit)
	c.finishStep(address, n, [2]uint64{tranche - gross, net}, payees, forfeit)
	return nil
}

func (c *call) noteResolution(n *Negotiation, sellerBps uint16, forfeit bool) {
	switch {
	case sellerBps == 0:
		c.happened("dispute resolved for the buyer")
	case sellerBps == whole:
		c.happened("dispute resolved for the seller")
	default:
		c.happened("dispute resolved with a split")
	}
	if c.world.Now >= n.MilestoneDeadline {
		c.happened("dispute resolved after the milestone deadline")
	}
	if forfeit {
		c.happened("bond forfeited by the arbiter")
	}
}

func (c *call) settleDeadline() error {
	address, n := c.negotiation()
	wrong := c.checkEscrow(address, n)
	payees := c.payees(n, &wrong)
	from := n.MilestoneDeadline
	if n.OpenDisputes() != 0 {
		from += n.Review()
	}
	if err := first(
		wrong.worst(),
		refuse(n.Status != Accepted || c.world.Now < from, InvalidState),
	); err != nil {
		return err
	}

	slot, disputes := n.Slot(), n.OpenDisputes()
	var released, split, refunded uint8
	var sums [2]uint64
	var fees uint64
	for index := range n.MilestoneCount {
		bit := uint8(1) << index
		if n.MilestonesDecided&bit != 0 {
			continue
		}
		tranche := n.trancheOf(index)
		var gross uint64
		switch bit {
		case bit & slot:
			gross = tranche
			released |= bit
		case bit & disputes:
			gross = tranche / 2
			split |= bit
		default:
			refunded |= bit
		}
		net, fee := n.decide(index, gross)
		sums = added(sums, [2]uint64{tranche - gross, net})
		fees += fee
	}
	c.log("DeadlineSettled", "negotiation_id", address, "released", released, "split", split, "refunded", refunded,
		"seller_amount", sums[Seller], "fee", fees, "buyer_amount", sums[Buyer], "timestamp", c.world.Now)
	c.happened("deadline settled: " + masks(released, split, refunded))
	c.finishStep(address, n, sums, payees, false)
	return nil
}

func masks(released, split, refunded uint8) string {
	some := func(mask uint8, name string) string {
		if mask == 0 {
			return "no " + name
		}
		return name
	}
	return some(released, "claim") + ", " + some(split, "dispute") + ", " + some(refunded, "refund")
}

// trancheOf is what a milestone that is decided next is worth: the floor of its share, or, if it is the last one, what the
// others' floors leave.
func (n *Negotiation) trancheOf(index uint8) uint64 {
	if n.MilestonesDecided|1<<index != n.AllMilestones() {
		return floored(n.SettledAmount, n.MilestoneBps[index])
	}
	rest := n.SettledAmount
	for i := range n.MilestoneCount {
		if i != index {
			rest -= floored(n.SettledAmount, n.MilestoneBps[i])
		}
	}
	return rest
}

// decide decides a milestone, of which the seller is paid so much; the fee is on what is paid in all, so that no unit is lost
// between the milestones.
func (n *Negotiation) decide(index uint8, gross uint64) (net, fee uint64) {
	before := n.fee()
	n.MilestonesDecided |= 1 << index
	n.PaidGross += gross
	fee = n.fee() - before
	return gross - fee, fee
}

func (n *Negotiation) allDecided() bool { return n.MilestonesDecided == n.AllMilestones() }

// finishStep pays what a step has decided, and settles the negotiation after the last one. The bond goes to the buyer at once
// if the arbiter says so, and otherwise back to the seller in the end.
func (c *call) finishStep(address Address, n *Negotiation, sums [2]uint64, payees [2]payee, forfeit bool) {
	bondTo := Seller
	if forfeit {
		bondTo = Buyer
	}
	if n.allDecided() {
		c.settle(address, n)
		c.happened("settled after " + strconv.Itoa(int(n.MilestoneCount)) + " milestones")
	}
	if n.allDecided() || forfeit {
		sums = added(sums, c.settleBond(address, n, bondTo))
	}
	c.pay(address, n, c.key("escrow_vault"), sums, payees)
}
