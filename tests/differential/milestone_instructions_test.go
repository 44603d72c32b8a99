package differential

import "github.com/haggle-protocol/haggle/tests/differential/model"

func (s *scenario) claimMilestone(session *session, n *model.Negotiation) model.AnyInstruction {
	p := s.participants
	return &model.ClaimMilestone{
		Seller:      mostly(s.random, 92, session.parties[1], session.parties[0], p.adversary, p.arbiter),
		Negotiation: session.negotiation,
		CreatedAt:   s.createdAt(session, n),
		Index:       s.milestone(n, ^n.MilestonesClaimed),
		Evidence:    s.evidence(),
	}
}

func (s *scenario) disputeMilestone(session *session, n *model.Negotiation) model.AnyInstruction {
	p := s.participants
	return &model.DisputeMilestone{
		Buyer:       mostly(s.random, 92, session.parties[0], session.parties[1], p.adversary, p.arbiter),
		Negotiation: session.negotiation,
		CreatedAt:   s.createdAt(session, n),
		Index:       s.milestone(n, n.UnderReview()),
		Evidence:    s.evidence(),
	}
}

// evidence returns a document's hash, or zeros for none.
func (s *scenario) evidence() [32]byte {
	if s.percent(20) {
		return [32]byte{}
	}
	return s.bytes32()
}

func (s *scenario) releaseMilestone(session *session, n *model.Negotiation) model.AnyInstruction {
	return &model.ReleaseMilestone{
		Releaser: mostly(s.random, 60, session.parties[0], session.parties[1],
			s.participants.adversary),
		Negotiation:        session.negotiation,
		EscrowVault:        s.vault(session),
		BuyerTokenAccount:  s.releaseRecipient(session, n),
		SellerTokenAccount: s.recipient(session, 1),
		TokenMint:          s.mint(session),
		TokenProgram:       s.tokenProgram(session),
		CreatedAt:          s.createdAt(session, n),
		Index:              s.milestone(n, n.UnderReview()),
	}
}

// releaseRecipient returns the buyer's account for a release, mostly if a bond is held. The release needs one
// only if the buyer gets a part of the bond.
func (s *scenario) releaseRecipient(session *session, n *model.Negotiation) model.Address {
	given := 20
	if n.BondState == model.BondHeld {
		given = 85
	}
	if !s.percent(given) {
		return model.Address{}
	}
	return s.recipient(session, 0)
}

func (s *scenario) resolveDispute(session *session, n *model.Negotiation) model.AnyInstruction {
	p := s.participants
	i := &model.ResolveDispute{
		Arbiter: mostly(s.random, 94, p.arbiter, session.parties[0], session.parties[1],
			p.adversary),
		Negotiation:        session.negotiation,
		EscrowVault:        s.vault(session),
		BuyerTokenAccount:  s.recipient(session, 0),
		SellerTokenAccount: s.recipient(session, 1),
		TokenMint:          s.mint(session),
		TokenProgram:       s.tokenProgram(session),
		CreatedAt:          s.createdAt(session, n),
		Index:              s.milestone(n, n.OpenDisputes()),
		SellerBps:          s.bps(),
	}
	return i
}

// settleByAgreement returns an agreement signed by both parties. A malformed agreement can lack signatures.
func (s *scenario) settleByAgreement(session *session, n *model.Negotiation) model.AnyInstruction {
	now := s.environment.Now
	i := &model.SettleByAgreement{
		Buyer: mostly(s.random, 97, session.parties[0], session.parties[1],
			s.participants.adversary),
		Seller: mostly(s.random, 97, session.parties[1], session.parties[0],
			s.participants.adversary),
		Negotiation:        session.negotiation,
		EscrowVault:        s.vault(session),
		BuyerTokenAccount:  s.recipient(session, 0),
		SellerTokenAccount: s.recipient(session, 1),
		TokenMint:          s.mint(session),
		TokenProgram:       s.tokenProgram(session),
		CreatedAt:          s.createdAt(session, n),
		ExpectedDecided: mostly(s.random, 96, n.MilestonesDecided, 0, n.AllMilestones(),
			byte(s.IntN(256))),
		ValidUntil: mostly(s.random, 94, addSeconds(now, int64(s.between(1, 3_600))), now, now-1,
			-1<<63, 1<<63-1),
		SellerBps: s.bps(),
	}
	if n.BondState == model.BondHeld || s.percent(5) {
		i.BondToBuyerBps = s.bps()
	}
	switch s.IntN(60) {
	case 0:
		i.SellerBps = uint16(s.between(10_001, 1<<16-1))
	case 1:
		i.BondToBuyerBps = uint16(s.between(10_001, 1<<16-1))
	}
	return i
}

// bps returns a share in basis points, often a round number and sometimes more than 10,000.
func (s *scenario) bps() uint16 {
	return uint16(pick(s.random, s.around(0, 10_000), 0, 5_000, 10_000))
}

// milestone returns a milestone in a mask, and sometimes any index.
func (s *scenario) milestone(n *model.Negotiation, mask uint8) uint8 {
	count := n.MilestoneCount()
	var indexes []uint8
	for i := range count {
		if mask>>i&1 == 1 {
			indexes = append(indexes, i)
		}
	}
	if len(indexes) == 0 || s.percent(4) {
		return pick(s.random, 0, uint8(s.IntN(8)), count, 8, 255)
	}
	return pick(s.random, indexes...)
}
