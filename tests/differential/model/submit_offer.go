package model

type SubmitOffer struct {
	Offerer     Address `account:"signer"`
	Negotiation Address `account:"writable,negotiation"`

	CreatedAt         int64
	ExpectedRound     uint8
	Amount            uint64
	DeadlineExtension uint32
	Metadata          [64]byte
}

func (i *SubmitOffer) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	side, isParty := n.SideOf(i.Offerer)
	effective := n.NextEffectiveEscrow()
	if err := firstError(
		failIf(!isMetadata(i.Metadata) || !n.allowsExtension(i.DeadlineExtension), InvalidParams),
		failIf(n.hasNoZone(), NoZopa),
		failIf(!n.IsBargaining() || n.ZopaPending(), InvalidState),
		e.checkTurnClock(n),
		failIf(!isParty, Unauthorized),
		failIf(i.CreatedAt != n.CreatedAt || i.ExpectedRound != n.CurrentRound, StaleState),
		failIf(side != n.Turn(), NotYourTurn),
		failIf(n.CurrentRound == n.MaxRounds, MaxRoundsReached),
		failIf(i.Amount < n.MinOffer(effective), OfferTooLow),
		failIf(i.Amount > effective, OfferExceedsEscrow),
	); err != nil {
		return err
	}

	e.noteOffer(n, side, i.DeadlineExtension)
	n.Status = StatusCountered
	if side == Buyer {
		n.Status = StatusProposed
	}
	n.CurrentRound++
	n.EffectiveEscrow = effective
	n.CurrentOfferAmount, n.CurrentOfferBy, n.OfferSide = i.Amount, i.Offerer, uint8(side)
	n.LastOfferAt = e.now()
	n.Metadata = i.Metadata
	n.GlobalDeadline, n.PendingExtension = n.extend(i.DeadlineExtension)
	if err := e.startTurn(n); err != nil {
		return err
	}
	e.store(i.Negotiation, n)
	e.log("OfferSubmitted", "negotiation_id", i.Negotiation, "offerer", i.Offerer, "amount", i.Amount,
		"round", n.CurrentRound, "effective_escrow", effective, "timestamp", e.now())
	return nil
}

// extend returns the global deadline and pending extension after an offer. If two consecutive offers carry an
// extension, the smaller one applies.
func (n *Negotiation) extend(extension uint32) (deadline int64, pending uint32) {
	if n.PendingExtension == 0 || extension == 0 {
		return n.GlobalDeadline, extension
	}
	return n.GlobalDeadline + int64(min(n.PendingExtension, extension)), 0
}

// allowsExtension reports whether the new global deadline lies within a day of the creation and leaves the
// milestones their minimum time.
func (n *Negotiation) allowsExtension(extension uint32) bool {
	if n.PendingExtension == 0 || extension == 0 {
		return true
	}
	deadline, _ := n.extend(extension)
	return within(n.CreatedAt, deadline, 0, day) &&
		(n.MilestoneCount() == 0 || within(deadline, n.MilestoneDeadline, uint64(n.MinMilestoneSpan()), year))
}

func (e *execution) noteOffer(n *Negotiation, side int, extension uint32) {
	if n.ZopaPhase == ZopaRevealed && n.CurrentRound == 0 {
		e.note("midpoint replaced by an offer")
	}
	e.note("offer by the " + sideNames[side])
	switch {
	case extension > 0 && n.PendingExtension > 0:
		e.note("deadline extended")
	case extension > 0:
		e.note("extension requested")
	case n.PendingExtension > 0:
		e.note("extension not confirmed")
	}
}
