package haggle

import "github.com/haggle-protocol/haggle/sdk/protocol"

// postcondition reports whether a negotiation, or the absence of one, shows that the action has taken effect. It
// returns false if the state is inconclusive.
func (a *Action) postcondition(now *NegotiationAccount) bool {
	if now == nil {
		_, closes := a.instruction.(*protocol.CloseNegotiation)
		return closes
	}
	if a.seen != nil && a.seen.CreatedAt != now.CreatedAt {
		return false // another negotiation at the same address
	}
	switch done := a.instruction.(type) {
	case *protocol.CreateNegotiation:
		return created(done, now)
	case *protocol.AcceptInvitation:
		// Only the seller can have accepted. A negotiation that ended otherwise is inconclusive.
		return now.Seller == done.Seller && (now.IsBargaining() || now.IsAgreed() || now.Status == protocol.NegotiationStatusSettled)
	case *protocol.SubmitOffer:
		return now.CurrentRound == done.ExpectedRound+1 && now.CurrentOfferBy == done.Offerer &&
			now.CurrentOfferAmount == done.Amount && now.Metadata == done.Metadata
	case *protocol.AcceptOffer:
		agreed := now.IsAgreed() || now.Status == protocol.NegotiationStatusSettled
		return agreed && now.CurrentRound == done.ExpectedRound && now.SettledAmount == done.ExpectedAmount
	case *protocol.RejectNegotiation:
		return now.Status == protocol.NegotiationStatusRejected && !now.EndedWithoutZone() && now.CurrentRound == done.ExpectedRound
	case *protocol.ExpireNegotiation:
		return now.Status == protocol.NegotiationStatusExpired
	case *protocol.SettleDeadline:
		return now.Status == protocol.NegotiationStatusSettled
	case *protocol.SettleByAgreement:
		return a.seen != nil && settled(done, &a.seen.Negotiation, now)
	case *protocol.SubmitZopaCommitment:
		side, ok := now.SideOf(done.Agent)
		return ok && done.Commitment != [32]byte{} && now.CommitmentOf(side) == done.Commitment
	case *protocol.RevealZopaPrice:
		return revealed(done, now)
	case *protocol.ClaimPayout:
		return done.Amount > 0 && now.ClaimableOf(done.Party) == 0
	case *protocol.ClaimMilestone:
		return now.MilestonesClaimed&(1<<done.Index) != 0
	case *protocol.DisputeMilestone:
		return now.MilestonesDisputed&(1<<done.Index) != 0
	case *protocol.ReleaseMilestone:
		return released(done, a.seen, now)
	}
	return false
}

// created reports whether a negotiation is the one that the instruction creates, whenever that was.
func created(v *protocol.CreateNegotiation, now *NegotiationAccount) bool {
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
func released(v *protocol.ReleaseMilestone, seen, now *NegotiationAccount) bool {
	bit := uint8(1) << v.Index
	if now.MilestonesDecided&bit == 0 || now.MilestonesClaimed&bit == 0 || now.MilestonesDisputed&bit != 0 {
		return false
	}
	return now.IsAgreed() || seen != nil && now.PaidGross == seen.PaidGross+seen.Undecided()
}

// settled reports whether the negotiation has been settled with this split.
func settled(v *protocol.SettleByAgreement, seen *protocol.Negotiation, now *NegotiationAccount) bool {
	if now.Status != protocol.NegotiationStatusSettled || seen.MilestonesDecided != v.ExpectedDecided {
		return false
	}
	bond := seen.BondState
	switch toBuyer := protocol.ShareOf(seen.HeldBond(), v.BondToBuyerBps, 0); {
	case seen.HeldBond() == 0:
	case toBuyer == 0:
		bond = protocol.BondStateReturned
	case toBuyer == seen.HeldBond():
		bond = protocol.BondStateForfeited
	default:
		bond = protocol.BondStateSplit
	}
	return now.BondState == bond && now.PaidGross == seen.PaidGross+protocol.ShareOf(seen.Undecided(), v.SellerBps, 0)
}

// revealed reports whether the party's price is out.
func revealed(v *protocol.RevealZopaPrice, now *NegotiationAccount) bool {
	switch v.Agent {
	case now.Buyer:
		return now.BuyerPrice == v.Price
	case now.Seller:
		return now.SellerPrice == v.Price
	}
	return false
}
