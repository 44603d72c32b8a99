package differential

import (
	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/tests/differential/model"
)

// instruction returns an instruction that fits a session's state, or nearly.
func (s *scenario) instruction(name string, session *session) model.AnyInstruction {
	n := s.negotiation(session)
	if n == nil {
		n = &model.Negotiation{Parties: session.parties, EscrowAmount: 1, MaxRounds: 1,
			MilestoneBps: [8]uint16{10_000}}
	}
	switch name {
	case "initialize_config":
		return s.initializeConfig()
	case "update_config":
		return &model.UpdateConfig{Authority: s.authority(), Config: s.participants.config,
			Settings: s.settings(mostly(s.random, 80, s.participants.treasury, s.participants.adversary,
				s.participants.buyer, model.Address{}))}
	case "set_paused":
		return &model.SetPaused{Authority: s.authority(), Config: s.participants.config,
			Paused: s.percent(40)}
	case "propose_authority":
		wallets := s.participants.authorities
		return &model.ProposeAuthority{Authority: s.authority(), Config: s.participants.config,
			NewAuthority: pick(s.random, wallets[0], wallets[1], wallets[1], model.Address{})}
	case "accept_authority":
		return &model.AcceptAuthority{Authority: s.pendingAuthority(), Config: s.participants.config}
	case "create_negotiation":
		return s.createNegotiation(session)
	case "accept_invitation":
		return s.acceptInvitation(session, n)
	case "submit_offer":
		return s.submitOffer(session, n)
	case "accept_offer":
		return s.acceptOffer(session, n)
	case "reject_negotiation":
		return s.rejectNegotiation(session, n)
	case "expire_negotiation":
		return &model.ExpireNegotiation{Negotiation: session.negotiation, EscrowVault: s.vault(session),
			BuyerTokenAccount: s.recipient(session, 0), SellerTokenAccount: s.bondRecipient(session, n),
			TokenMint: s.mint(session), TokenProgram: s.tokenProgram(session)}
	case "close_negotiation":
		return s.closeNegotiation(session, n)
	case "claim_payout":
		return s.claimPayout(session, n)
	case "submit_zopa_commitment":
		return s.submitZopaCommitment(session, n)
	case "reveal_zopa_price":
		return s.revealZopaPrice(session, n)
	case "claim_milestone":
		return s.claimMilestone(session, n)
	case "dispute_milestone":
		return s.disputeMilestone(session, n)
	case "release_milestone":
		return s.releaseMilestone(session, n)
	case "resolve_dispute":
		return s.resolveDispute(session, n)
	case "settle_deadline":
		return &model.SettleDeadline{Negotiation: session.negotiation, EscrowVault: s.vault(session),
			BuyerTokenAccount: s.recipient(session, 0), SellerTokenAccount: s.recipient(session, 1),
			TokenMint: s.mint(session), TokenProgram: s.tokenProgram(session)}
	case "settle_by_agreement":
		return s.settleByAgreement(session, n)
	}
	panic("no generator for " + name)
}

func (s *scenario) authority() model.Address {
	wallets := s.participants.authorities
	if config := s.config(); config != nil {
		return mostly(s.random, 85, config.Authority, s.participants.adversary, wallets[0], wallets[1])
	}
	return wallets[0]
}

func (s *scenario) pendingAuthority() model.Address {
	if config := s.config(); config != nil && config.PendingAuthority != (model.Address{}) {
		return mostly(s.random, 85, config.PendingAuthority, s.participants.adversary, config.Authority)
	}
	return pick(s.random, s.participants.authorities[:]...)
}

func (s *scenario) initializeConfig() model.AnyInstruction {
	return &model.InitializeConfig{
		Authority:     mostly(s.random, 92, s.participants.authorities[0], s.participants.adversary),
		Config:        mostly(s.random, 98, s.participants.config, s.participants.adversary),
		ProgramData:   mostly(s.random, 98, s.participants.programData, model.ProgramID),
		SystemProgram: mostly(s.random, 97, solana.SystemProgramID, solana.TokenProgramID),
		Settings:      s.settings(mostly(s.random, 97, s.participants.treasury, model.Address{})),
	}
}

func (s *scenario) settings(treasury model.Address) model.Settings {
	return model.Settings{
		Treasury:              treasury,
		DefaultDecayRateBps:   uint16(s.around(0, 1_000)),
		DefaultResponseWindow: int64(s.around(60, 3_600)),
		DefaultProtocolFeeBps: uint16(s.around(0, 500)),
		DefaultMaxRounds:      uint8(s.around(1, 20)),
	}
}

func (s *scenario) acceptInvitation(session *session, n *model.Negotiation) model.AnyInstruction {
	i := &model.AcceptInvitation{
		Seller:      mostly(s.random, 94, session.parties[1], session.parties[0], s.participants.adversary),
		Negotiation: session.negotiation,
		TokenMint:   s.mint(session),
		TermsHash:   n.TermsHash(session.negotiation),
		Decimals:    s.decimals(session.currency.mint),
	}
	switch k := s.IntN(20); {
	case k == 0 && len(session.history) > 0:
		i.TermsHash = pick(s.random, session.history...).terms
	case k == 1 && s.percent(50):
		i.TermsHash = s.bytes32()
	}
	given := 25
	if n.BondRequired > 0 {
		given = 97
	}
	tokens := session.currency.tokens[session.parties[1]]
	from := mostly(s.random, 70, tokens[1], tokens[0])
	for _, optional := range []struct {
		field *model.Address
		value model.Address
	}{
		{&i.EscrowVault, s.vault(session)}, {&i.SellerTokenAccount, from},
		{&i.TokenProgram, s.tokenProgram(session)},
	} {
		if s.percent(given) {
			*optional.field = optional.value
		}
	}
	return i
}

func (s *scenario) submitOffer(session *session, n *model.Negotiation) model.AnyInstruction {
	turn := n.Turn()
	i := &model.SubmitOffer{
		Offerer: mostly(s.random, 94, session.parties[turn], session.parties[1-turn],
			s.participants.adversary),
		Negotiation:       session.negotiation,
		CreatedAt:         s.createdAt(session, n),
		ExpectedRound:     s.expectedRound(n),
		DeadlineExtension: s.deadlineExtension(n),
		Metadata:          s.metadata(),
	}
	most := n.NextEffectiveEscrow()
	least := n.MinOffer(most)
	switch k := s.IntN(30); {
	case k == 0:
		i.Amount = least - 1
	case k == 1:
		i.Amount = most + 1
	case k == 2:
		i.Amount = pick(s.random, uint64(0), 1<<64-1)
	case k < 6:
		i.Amount = least
	case k < 9:
		i.Amount = most
	default:
		i.Amount = s.between(min(least, most), most)
	}
	return i
}

// deadlineExtension returns an extension, often none or close to the longest one.
func (s *scenario) deadlineExtension(n *model.Negotiation) uint32 {
	switch k := s.IntN(20); {
	case s.nearEndOfTime():
		return 0
	case k < 6:
		return uint32(s.between(1, 3_000))
	case k < 7:
		return uint32(s.between(1, 90_000))
	case k < 8:
		longest := addSeconds(n.CreatedAt, 86_400) - n.GlobalDeadline
		if n.MilestoneCount() > 0 {
			longest = min(longest, n.MilestoneDeadline-n.MinMilestoneSpan()-n.GlobalDeadline)
		}
		return uint32(max(0, min(longest+int64(s.IntN(2)), 1<<31)))
	case k < 9 && s.percent(20):
		return 1<<32 - 1
	}
	return 0
}

func (s *scenario) acceptOffer(session *session, n *model.Negotiation) model.AnyInstruction {
	turn := n.Turn()
	if n.CurrentRound == 0 {
		turn = s.IntN(2)
	}
	i := &model.AcceptOffer{
		Acceptor: mostly(s.random, 94, session.parties[turn], session.parties[1-turn],
			s.participants.adversary),
		Negotiation:        session.negotiation,
		EscrowVault:        s.vault(session),
		BuyerTokenAccount:  s.recipient(session, 0),
		SellerTokenAccount: s.recipient(session, 1),
		TokenMint:          s.mint(session),
		TokenProgram:       s.tokenProgram(session),
		CreatedAt:          s.createdAt(session, n),
		ExpectedRound:      s.expectedRound(n),
		ExpectedAmount:     n.CurrentOfferAmount,
		ExpectedMetadata:   n.Metadata,
	}
	if s.percent(2) {
		i.ExpectedAmount--
	}
	if s.percent(2) {
		i.ExpectedMetadata = s.metadata()
	}
	return i
}

func (s *scenario) rejectNegotiation(session *session, n *model.Negotiation) model.AnyInstruction {
	rejector := pickWeighted(s.random, []weighted[model.Address]{
		{46, session.parties[0]}, {46, session.parties[1]}, {8, s.participants.adversary},
	})
	bondTo := s.bondRecipient(session, n)
	forfeits := n.BondState == model.BondHeld && n.Prices[model.Buyer] != 0 && n.CurrentRound == 0
	if forfeits && rejector == session.parties[1] && s.percent(60) {
		bondTo = model.Address{} // The seller accepts losing the bond.
	}
	return &model.RejectNegotiation{Rejector: rejector, Negotiation: session.negotiation,
		EscrowVault: s.vault(session), BuyerTokenAccount: s.recipient(session, 0), SellerTokenAccount: bondTo,
		TokenMint: s.mint(session), TokenProgram: s.tokenProgram(session), CreatedAt: s.createdAt(session, n),
		ExpectedRound: s.expectedRound(n)}
}

func (s *scenario) expectedRound(n *model.Negotiation) uint8 {
	return mostly(s.random, 97, n.CurrentRound, n.CurrentRound-1, n.CurrentRound+1)
}

func (s *scenario) claimPayout(session *session, n *model.Negotiation) model.AnyInstruction {
	side := s.IntN(2)
	if n.Claimable[side] == 0 {
		side = 1 - side
	}
	i := &model.ClaimPayout{
		Party: mostly(s.random, 94, session.parties[side], session.parties[1-side],
			s.participants.adversary),
		Negotiation:             session.negotiation,
		EscrowVault:             s.vault(session),
		DestinationTokenAccount: s.recipient(session, side),
		TokenMint:               s.mint(session),
		TokenProgram:            s.tokenProgram(session),
		CreatedAt:               s.createdAt(session, n),
		Amount:                  n.Claimable[side],
	}
	if s.percent(20) {
		choices := []model.Address{session.currency.adversary, session.currency.treasury}
		for _, other := range s.participants.sessions {
			choices = append(choices, other.vault)
		}
		i.DestinationTokenAccount = pick(s.random, choices...)
	}
	switch k := s.IntN(25); {
	case k == 0:
		i.Amount = 0
	case k == 1 || i.Amount == 0 && k < 12:
		i.Amount++
	}
	return i
}

func (s *scenario) closeNegotiation(session *session, n *model.Negotiation) model.AnyInstruction {
	i := &model.CloseNegotiation{
		Closer: pick(s.random, session.parties[0], session.parties[1], s.participants.adversary,
			s.participants.treasury),
		Negotiation:  session.negotiation,
		EscrowVault:  s.vault(session),
		Config:       s.participants.config,
		Buyer:        session.parties[0],
		TokenMint:    s.mint(session),
		TokenProgram: s.tokenProgram(session),
	}
	if s.percent(96) {
		i.TreasuryTokenAccount = s.treasuryTokens(session)
	}
	for side, field := range []*model.Address{&i.BuyerTokenAccount, &i.SellerTokenAccount} {
		given := 40
		if n.Claimable[side] > 0 {
			given = 95
		}
		if s.percent(given) {
			*field = s.recipient(session, side)
		}
	}
	return i
}
