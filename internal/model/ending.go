package model

func (c *call) acceptOffer() error {
	address, n := c.negotiation()
	var expectedRound uint8
	var expectedAmount uint64
	var expectedMetadata [64]byte
	c.arguments.read(&expectedRound)
	c.arguments.read(&expectedAmount)
	c.arguments.read(&expectedMetadata)

	wrong := c.checkEscrow(address, n)
	payees := c.payees(n, &wrong)
	side, isParty := n.SideOf(c.signer())
	asSeen := expectedRound == n.Round && expectedAmount == n.Offer && expectedMetadata == n.Metadata
	if err := first(
		wrong.worst(),
		refuse(n.foundNoZone(), NoZopa),
		refuse(!n.IsBargaining() || !n.HasOffer(), InvalidState),
		c.inTime(n),
		refuse(!isParty, Unauthorized),
		refuse(!asSeen, StaleState),
		refuse(n.OfferBy == c.signer(), NotYourTurn),
	); err != nil {
		return err
	}

	c.noteAcceptance(address, n, side)
	c.log("OfferAccepted", "negotiation_id", address, "accepted_by", c.signer(), "amount", n.Offer, "round", n.Round,
		"timestamp", c.world.Now)
	n.SettledAmount = n.Offer
	sums := [2]uint64{Buyer: n.Effective - n.Offer}
	if n.MilestoneCount > 0 {
		n.Status = Accepted
	} else {
		n.PaidGross = n.Offer
		sums[Seller] = n.Offer - n.fee()
		c.settle(address, n)
		sums = added(sums, c.settleBond(address, n, Seller))
	}
	c.pay(address, n, c.key("escrow_vault"), sums, payees)
	return nil
}

func (c *call) noteAcceptance(address Address, n *Negotiation, side int) {
	c.happened("accepted by the " + partyNames[side])
	if n.OfferBy == address {
		c.happened("midpoint accepted by the " + partyNames[side])
	}
	if n.Offer == n.Effective {
		c.happened("accepted for the whole effective escrow")
	}
	if n.Round == n.MaxRounds {
		c.happened("accepted after the last round")
	}
	if n.MilestoneCount > 0 {
		c.happened("accepted with milestones")
	}
}

func (c *call) rejectNegotiation() error {
	address, n := c.negotiation()
	var expectedRound uint8
	c.arguments.read(&expectedRound)

	wrong := c.checkEscrow(address, n)
	payees := c.payees(n, &wrong)
	side, isParty := n.SideOf(c.signer())
	if err := first(
		wrong.worst(),
		refuse(!n.IsOpen(), InvalidState),
		c.inTime(n),
		refuse(!isParty, Unauthorized),
		refuse(expectedRound != n.Round, StaleState),
	); err != nil {
		return err
	}
	bondTo := Seller
	if n.bondIsForfeit() && side == Seller {
		bondTo = Buyer
	}
	// Whoever names an account for its bond expects it back.
	if bondTo == Buyer && c.given("seller_token_account") {
		return StaleState
	}
	if n.BondState == BondHeld && bondTo == Seller {
		if err := c.needed("seller_token_account"); err != nil {
			return err
		}
	}
	c.happened("rejected by the " + partyNames[side] + " " + stage(n))
	c.end(address, n, Rejected, c.signer(), bondTo, payees)
	return nil
}

func (c *call) expireNegotiation() error {
	address, n := c.negotiation()
	wrong := c.checkEscrow(address, n)
	payees := c.payees(n, &wrong)
	late := c.inTime(n)
	if err := first(
		wrong.worst(),
		refuse(!n.IsOpen() || late == nil, InvalidState),
	); err != nil {
		return err
	}
	bondTo := Seller
	if n.bondIsForfeit() {
		bondTo = Buyer
	}
	if n.BondState == BondHeld && bondTo == Seller {
		if err := c.needed("seller_token_account"); err != nil {
			return err
		}
	}
	which := "window"
	if late == error(Expired) {
		which = "deadline"
	}
	c.happened("expired past the " + which + " " + stage(n))
	c.end(address, n, ExpiredStatus, Address{}, bondTo, payees)
	return nil
}

// end ends a negotiation without a price: the buyer gets what is left of the escrow, the bond goes to one of the sides.
func (c *call) end(address Address, n *Negotiation, status uint8, rejectedBy Address, bondTo int, payees [2]payee) {
	n.Status = status
	if status == Rejected {
		c.log("NegotiationRejected", "negotiation_id", address, "rejected_by", rejectedBy, "refund_amount", n.Effective,
			"rounds_completed", n.Round, "timestamp", c.world.Now)
	} else {
		c.log("NegotiationExpired", "negotiation_id", address, "refund_amount", n.Effective, "rounds_completed", n.Round,
			"timestamp", c.world.Now)
	}
	sums := added([2]uint64{Buyer: n.Effective}, c.settleBond(address, n, bondTo))
	c.pay(address, n, c.key("escrow_vault"), sums, payees)
}

// stage is where a negotiation stands that ends without a price.
func stage(n *Negotiation) string {
	switch {
	case n.Status == Created:
		return "while Created"
	case n.ZopaPhase == ZopaBothCommitted && n.Prices[Buyer] != 0:
		return "instead of the seller's reveal"
	case n.SealedPricesPending():
		return "while prices are sealed"
	case n.Round == 0 && n.HasOffer():
		return "while the midpoint stands"
	case !n.HasOffer():
		return "before the first offer"
	case n.Status == Proposed:
		return "while Proposed"
	}
	return "while Countered"
}
