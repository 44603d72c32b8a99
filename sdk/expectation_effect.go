package haggle

// tookEffect says whether a negotiation, or the absence of one, shows that the action has been done. Where a state does not tell,
// it says no.
func (a *Action) tookEffect(now *NegotiationAccount) bool {
	if now == nil {
		_, closes := a.instruction.(*CloseNegotiation)
		return closes
	}
	if a.seen != nil && a.seen.CreatedAt != now.CreatedAt {
		return false // another negotiation at the same address
	}
	switch done := a.instruction.(type) {
	case *CreateNegotiation:
		return done.created(now)
	case *AcceptInvitation:
		// Nobody but the seller can have accepted, and only before an end that the state could also have come to without that.
		return now.Seller == done.Seller && (now.IsBargaining() || now.IsAgreed() || now.Status == NegotiationStatusSettled)
	case *SubmitOffer:
		return now.CurrentRound == done.ExpectedRound+1 && now.CurrentOfferBy == done.Offerer &&
			now.CurrentOfferAmount == done.Amount && now.Metadata == done.Metadata
	case *AcceptOffer:
		agreed := now.IsAgreed() || now.Status == NegotiationStatusSettled
		return agreed && now.CurrentRound == done.ExpectedRound && now.SettledAmount == done.ExpectedAmount
	case *RejectNegotiation:
		return now.Status == NegotiationStatusRejected && !now.EndedWithoutZone() && now.CurrentRound == done.ExpectedRound
	case *ExpireNegotiation:
		return now.Status == NegotiationStatusExpired
	case *SettleDeadline:
		return now.Status == NegotiationStatusSettled
	case *SettleByAgreement:
		return a.seen != nil && done.settled(&a.seen.Negotiation, now)
	case *SubmitZopaCommitment:
		side, ok := now.SideOf(done.Agent)
		return ok && done.Commitment != [32]byte{} && now.CommitmentOf(side) == done.Commitment
	case *RevealZopaPrice:
		return done.revealed(now)
	case *ClaimPayout:
		return done.Amount > 0 && now.ClaimableOf(done.Party) == 0
	case *ClaimMilestone:
		return now.MilestonesClaimed&bitOf(done.Index) != 0
	case *DisputeMilestone:
		return now.MilestonesDisputed&bitOf(done.Index) != 0
	case *ReleaseMilestone:
		return done.released(a.seen, now)
	}
	return false
}

// created says whether a negotiation is the one that the instruction creates, whenever that was.
func (v *CreateNegotiation) created(now *NegotiationAccount) bool {
	params := &v.Params
	return now.Buyer == v.Buyer && now.Seller == v.Seller && now.SessionID == v.SessionID && now.TokenMint == v.TokenMint &&
		now.EscrowAmount == params.EscrowAmount && now.ServiceHash == params.ServiceHash && now.MaxRounds == params.MaxRounds &&
		now.DecayRateBps == params.DecayRateBps && now.ResponseWindow == params.ResponseWindow &&
		now.MinOfferBps == params.MinOfferBps && now.ZopaEnabled == params.ZopaEnabled && now.BondRequired == params.BondRequired &&
		now.Arbiter == params.Arbiter && now.MilestoneBps == params.MilestoneBps && now.ReviewHours == params.ReviewHours
}

// released reports whether the milestone has been paid to the seller. An agreement of the parties decides a
// claimed milestone, too, with any split, so a settled negotiation is conclusive only if this milestone was
// the last one.
func (v *ReleaseMilestone) released(seen, now *NegotiationAccount) bool {
	bit := bitOf(v.Index)
	if now.MilestonesDecided&bit == 0 || now.MilestonesClaimed&bit == 0 || now.MilestonesDisputed&bit != 0 {
		return false
	}
	return now.IsAgreed() || seen != nil && now.PaidGross == seen.PaidGross+seen.Undecided()
}

// settled reports whether the negotiation has been settled with this split.
func (v *SettleByAgreement) settled(seen *Negotiation, now *NegotiationAccount) bool {
	if now.Status != NegotiationStatusSettled || seen.MilestonesDecided != v.ExpectedDecided {
		return false
	}
	bond := seen.BondState
	switch toBuyer := shareOf(seen.HeldBond(), v.BondToBuyerBps, 0); {
	case seen.HeldBond() == 0:
	case toBuyer == 0:
		bond = BondStateReturned
	case toBuyer == seen.HeldBond():
		bond = BondStateForfeited
	default:
		bond = BondStateSplit
	}
	return now.BondState == bond && now.PaidGross == seen.PaidGross+shareOf(seen.Undecided(), v.SellerBps, 0)
}

// revealed says whether the party's price is out.
func (v *RevealZopaPrice) revealed(now *NegotiationAccount) bool {
	switch v.Agent {
	case now.Buyer:
		return now.BuyerPrice == v.Price
	case now.Seller:
		return now.SellerPrice == v.Price
	}
	return false
}
