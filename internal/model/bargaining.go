package model

func (c *call) acceptInvitation() error {
	address, n := c.negotiation()
	var termsHash [32]byte
	c.arguments.read(&termsHash)

	wrong := c.checkEscrow(address, n)
	if c.given("seller_token_account") {
		wrong.token = !c.belongs(c.key("seller_token_account"), n, n.Parties[Seller])
	}
	if err := first(
		wrong.worst(),
		refuse(n.Status != Created, InvalidState),
		c.inTime(n),
		refuse(c.signer() != n.Parties[Seller], Unauthorized),
		refuse(termsHash != n.TermsHash(address), StaleState),
	); err != nil {
		return err
	}
	if n.BondRequired > 0 {
		if err := c.needed("escrow_vault", "seller_token_account", "token_mint", "token_program"); err != nil {
			return err
		}
	}

	n.Status = Proposed
	if err := c.startTurn(n); err != nil {
		return err
	}
	if n.BondRequired > 0 {
		if err := c.deposit(c.key("seller_token_account"), c.key("escrow_vault"), n.BondRequired); err != nil {
			return err
		}
		n.BondState = BondHeld
		c.happened("bond deposited")
	}
	c.store(address, n)
	c.log("InvitationAccepted", "negotiation_id", address, "seller", c.signer(), "bond", n.BondRequired,
		"turn_deadline", n.TurnDeadline, "timestamp", c.world.Now)
	c.happened("invitation accepted")
	return nil
}

func (c *call) submitOffer() error {
	address, n := c.negotiation()
	var expectedRound uint8
	var amount uint64
	var extension uint32
	var metadata [64]byte
	c.arguments.read(&expectedRound)
	c.arguments.read(&amount)
	c.arguments.read(&extension)
	c.arguments.read(&metadata)

	side, isParty := n.SideOf(c.signer())
	effective := n.NextEffective()
	if err := first(
		refuse(!isMetadata(metadata), InvalidParams),
		checkExtension(n, extension),
		refuse(n.foundNoZone(), NoZopa),
		refuse(!n.IsBargaining() || n.SealedPricesPending(), InvalidState),
		c.inTime(n),
		refuse(!isParty, Unauthorized),
		refuse(expectedRound != n.Round, StaleState),
		refuse(side != n.Turn(), NotYourTurn),
		refuse(n.Round == n.MaxRounds, MaxRoundsReached),
		refuse(amount < n.MinOffer(effective), OfferTooLow),
		refuse(amount > effective, OfferExceedsEscrow),
	); err != nil {
		return err
	}

	c.noteOffer(n, side, extension)
	n.Status = Countered
	if side == Buyer {
		n.Status = Proposed
	}
	n.Round++
	n.Effective = effective
	n.Offer, n.OfferBy, n.OfferSide = amount, c.signer(), uint8(side)
	n.LastOfferAt = c.world.Now
	n.Metadata = metadata
	n.Deadline, n.PendingExtension = extended(n, extension)
	if err := c.startTurn(n); err != nil {
		return err
	}
	c.store(address, n)
	c.log("OfferSubmitted", "negotiation_id", address, "offerer", c.signer(), "amount", amount, "round", n.Round,
		"effective_escrow", effective, "timestamp", c.world.Now)
	return nil
}

// extended is what an offer that asks for an extension makes of the deadline, and of what is asked for: when both sides ask in
// turn, the smaller of the two extensions is applied.
func extended(n *Negotiation, extension uint32) (deadline int64, pending uint32) {
	if n.PendingExtension == 0 || extension == 0 {
		return n.Deadline, extension
	}
	return n.Deadline + int64(min(n.PendingExtension, extension)), 0
}

// checkExtension checks that what is applied leaves the deadline within a day of the creation, and the milestones their time.
func checkExtension(n *Negotiation, extension uint32) error {
	if n.PendingExtension == 0 || extension == 0 {
		return nil
	}
	deadline, _ := extended(n, extension)
	reviews := uint64(n.MilestoneCount) * uint64(n.Review())
	inTime := between(n.CreatedAt, deadline, 0, day)
	leavesReviews := n.MilestoneCount == 0 || between(deadline, n.MilestoneDeadline, reviews, year)
	return refuse(!inTime || !leavesReviews, InvalidParams)
}

func (c *call) noteOffer(n *Negotiation, side int, extension uint32) {
	switch {
	case n.ZopaPhase == ZopaRevealed && n.Round == 0:
		c.happened("offer in the place of the midpoint")
	case side == Buyer:
		c.happened("offer by the buyer")
	default:
		c.happened("offer by the seller")
	}
	switch {
	case extension > 0 && n.PendingExtension > 0:
		c.happened("deadline extended")
	case extension > 0:
		c.happened("extension asked for")
	case n.PendingExtension > 0:
		c.happened("extension not agreed to")
	}
}
