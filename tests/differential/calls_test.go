package differential

import (
	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/model"
	"github.com/haggle-protocol/haggle/sdk"
)

// sensible is a call that makes sense for a negotiation at this point, or nearly.
func (s *story) sensible(name string, d *deal) haggle.AnyInstruction {
	n := s.negotiation(d)
	if n == nil {
		n = &model.Negotiation{Parties: d.parties, Escrow: 1, MaxRounds: 1, MilestoneCount: 1}
	}
	switch name {
	case "initialize_config":
		return s.initializeConfig()
	case "update_config":
		return s.updateConfig()
	case "set_paused":
		return &haggle.SetPaused{Authority: s.authority(), Config: s.cast.config, Paused: s.percent(40)}
	case "propose_authority":
		proposed := pick(s.chance, s.cast.authorities[0], s.cast.authorities[1], s.cast.authorities[1], solana.PublicKey{})
		return &haggle.ProposeAuthority{Authority: s.authority(), Config: s.cast.config, NewAuthority: proposed}
	case "accept_authority":
		return &haggle.AcceptAuthority{Authority: s.pendingAuthority(), Config: s.cast.config}
	case "create_negotiation":
		return s.createNegotiation(d)
	case "accept_invitation":
		return s.acceptInvitation(d, n)
	case "submit_offer":
		return s.submitOffer(d, n)
	case "accept_offer":
		return s.acceptOffer(d, n)
	case "reject_negotiation":
		signer := weigh(s.chance, []weighted[solana.PublicKey]{{46, d.parties[0]}, {46, d.parties[1]}, {8, s.cast.stranger}})
		bondTo := s.bondRecipient(d, n)
		if n.ZopaPhase == model.ZopaBothCommitted && n.Prices[model.Buyer] != 0 && signer == d.parties[1] && s.percent(85) {
			bondTo = solana.PublicKey{} // it agrees to lose its bond
		}
		return &haggle.RejectNegotiation{Rejector: signer, Negotiation: d.negotiation, EscrowVault: d.vault,
			BuyerTokenAccount: s.recipient(d, 0), SellerTokenAccount: bondTo, TokenMint: d.currency.mint,
			TokenProgram: d.currency.program, ExpectedRound: s.nearly(n.Round)}
	case "expire_negotiation":
		return &haggle.ExpireNegotiation{Negotiation: d.negotiation, EscrowVault: d.vault, BuyerTokenAccount: s.recipient(d, 0),
			SellerTokenAccount: s.bondRecipient(d, n), TokenMint: d.currency.mint, TokenProgram: d.currency.program}
	case "close_negotiation":
		return s.closeNegotiation(d, n)
	case "claim_payout":
		return s.claimPayout(d, n)
	case "submit_zopa_commitment":
		return s.submitZopaCommitment(d, n)
	case "reveal_zopa_price":
		return s.revealZopaPrice(d, n)
	case "claim_milestone":
		signer := mostly(s.chance, 92, d.parties[1], d.parties[0], s.cast.stranger, s.cast.arbiter)
		return &haggle.ClaimMilestone{Seller: signer, Negotiation: d.negotiation, Index: s.milestone(n, ^n.MilestonesClaimed)}
	case "dispute_milestone":
		signer := mostly(s.chance, 92, d.parties[0], d.parties[1], s.cast.stranger, s.cast.arbiter)
		return &haggle.DisputeMilestone{Buyer: signer, Negotiation: d.negotiation, Index: s.milestone(n, n.Slot())}
	case "release_milestone":
		signer := mostly(s.chance, 60, d.parties[0], d.parties[1], s.cast.stranger)
		return &haggle.ReleaseMilestone{Releaser: signer, Negotiation: d.negotiation, EscrowVault: d.vault,
			SellerTokenAccount: s.recipient(d, 1), TokenMint: d.currency.mint, TokenProgram: d.currency.program,
			Index: s.milestone(n, n.Slot())}
	case "resolve_dispute":
		return s.resolveDispute(d, n)
	case "settle_deadline":
		return &haggle.SettleDeadline{Negotiation: d.negotiation, EscrowVault: d.vault, BuyerTokenAccount: s.recipient(d, 0),
			SellerTokenAccount: s.recipient(d, 1), TokenMint: d.currency.mint, TokenProgram: d.currency.program}
	}
	panic("no call is known for " + name)
}

func (s *story) authority() solana.PublicKey {
	if config := s.config(); config != nil {
		return mostly(s.chance, 85, config.Authority, s.cast.stranger, s.cast.authorities[0], s.cast.authorities[1])
	}
	return s.cast.authorities[0]
}

func (s *story) pendingAuthority() solana.PublicKey {
	if config := s.config(); config != nil && !config.PendingAuthority.IsZero() {
		return mostly(s.chance, 85, config.PendingAuthority, s.cast.stranger, config.Authority)
	}
	return pick(s.chance, s.cast.authorities[:]...)
}

func (s *story) initializeConfig() haggle.AnyInstruction {
	return &haggle.InitializeConfig{
		Authority:             mostly(s.chance, 92, s.cast.authorities[0], s.cast.stranger),
		Treasury:              mostly(s.chance, 97, s.cast.treasury, solana.PublicKey{}),
		DefaultDecayRateBps:   uint16(s.around(0, 1_000)),
		DefaultResponseWindow: int64(s.around(60, 3_600)),
		DefaultProtocolFeeBps: uint16(s.around(0, 500)),
		DefaultMaxRounds:      uint8(s.around(1, 20)),
	}
}

func (s *story) updateConfig() haggle.AnyInstruction {
	return &haggle.UpdateConfig{
		Authority:             s.authority(),
		Config:                s.cast.config,
		Treasury:              mostly(s.chance, 80, s.cast.treasury, s.cast.stranger, s.cast.buyer, solana.PublicKey{}),
		DefaultDecayRateBps:   uint16(s.around(0, 1_000)),
		DefaultResponseWindow: int64(s.around(60, 3_600)),
		DefaultProtocolFeeBps: uint16(s.around(0, 500)),
		DefaultMaxRounds:      uint8(s.around(1, 20)),
	}
}

func (s *story) createNegotiation(d *deal) haggle.AnyInstruction {
	source := d.currency.tokens[d.parties[0]]
	from := source[0]
	if amountOf(s.world.Accounts[source[1]]) > amountOf(s.world.Accounts[from]) {
		from = source[1]
	}
	v := &haggle.CreateNegotiation{Buyer: d.parties[0], Seller: d.parties[1], Negotiation: d.negotiation, EscrowVault: d.vault,
		BuyerTokenAccount: from, TokenMint: d.currency.mint, Config: s.cast.config, TokenProgram: d.currency.program,
		SessionID: d.sessionID}
	switch n := s.IntN(60); {
	case n == 0:
		v.Seller = v.Buyer
		v.Negotiation = must2(haggle.FindNegotiationAddress(v.Buyer, v.Seller, v.SessionID))
		v.EscrowVault = must2(haggle.FindVaultAddress(v.Negotiation))
	case n < 4 && v.Buyer == s.cast.buyer:
		other := pick(s.chance, s.cast.unsupported...)
		v.TokenMint, v.BuyerTokenAccount, v.TokenProgram = other.mint, other.account, other.program
	}
	v.Params = s.terms(d, max(amountOf(s.world.Accounts[v.BuyerTokenAccount]), 100_000))
	return v
}

// nearEndOfTime reports whether times a few days from now do not fit an account. No chain gets there; only what bargaining alone
// does then is compared.
func (s *story) nearEndOfTime() bool { return s.world.Now > 1<<62 }

// terms are parameters with any of the capabilities, seldom with one of them out of range.
func (s *story) terms(d *deal, available uint64) haggle.NegotiationParams {
	p := haggle.NegotiationParams{
		EscrowAmount:   s.escrow(d, available),
		ServiceHash:    s.bytes32(),
		MaxRounds:      uint8(s.between(6, 20)),
		DecayRateBps:   uint16(s.around(0, 1_000)),
		ResponseWindow: int64(s.around(60, 3_600)),
		GlobalDeadline: add(s.world.Now, int64(s.between(1_000, 30_000))),
		MinOfferBps:    uint16(s.around(100, 9_000)),
		Metadata:       s.metadata(),
	}
	if s.percent(30) {
		p.MaxRounds = uint8(s.around(1, 4))
	}
	if s.percent(15) {
		p.DecayRateBps = 0
	}
	switch n := s.IntN(50); {
	case n < 6:
		p.GlobalDeadline = add(s.world.Now, int64(s.around(60, 86_400)))
	case n < 12:
		p.GlobalDeadline = add(s.world.Now, int64(s.between(60, 2_000)))
	case n == 12:
		p.GlobalDeadline = pick(s.chance, int64(-1<<63), 1<<63-1)
	}
	s.addBond(&p)
	if s.percent(40) && !s.nearEndOfTime() {
		s.addMilestones(&p)
	}
	if s.percent(4) && !s.nearEndOfTime() {
		s.spoilTerms(&p)
	}
	return p
}

func (s *story) escrow(d *deal, available uint64) uint64 {
	switch s.IntN(20) {
	case 0:
		return 100_000
	case 1:
		return pick(s.chance, 99_999, available+1, available)
	case 2, 3:
		return 5_000_000
	case 4, 5:
		return s.between(100_000, 100_100)
	}
	return s.between(100_000, max(min(available, d.currency.funds/4), 100_000))
}

func (s *story) addBond(p *haggle.NegotiationParams) {
	p.ZopaEnabled = s.percent(45) && !s.nearEndOfTime()
	if p.ZopaEnabled || s.percent(30) {
		p.BondRequired = pick(s.chance, 1, s.between(1, 100_000), s.between(1, 1_000), 400_000)
	}
	if s.percent(1) {
		p.BondRequired = pick(s.chance, 0, -p.EscrowAmount, -p.EscrowAmount-1, 5_000_000)
	}
}

func (s *story) addMilestones(p *haggle.NegotiationParams) {
	p.Arbiter = s.cast.arbiter
	count := pick(s.chance, 1, 2, 2, 3, 3, s.between(1, 8), 8)
	p.MilestoneCount = uint8(count)
	left := uint64(10_000)
	for i := range count {
		share := left - (count - 1 - i)
		if i < count-1 {
			share = mostly(s.chance, 80, min(share, s.between(1, 2*10_000/count)), 1)
		}
		p.MilestoneBps[i] = uint16(share)
		left -= share
	}
	review := max(p.ResponseWindow, 3_600)
	earliest := add(p.GlobalDeadline, int64(count)*review)
	latest := add(s.world.Now, 365*86_400)
	p.MilestoneDeadline = pick(s.chance, earliest, add(earliest, int64(s.between(0, 100_000))), latest, add(earliest, int64(s.between(0, 2_000))))
	if s.percent(2) {
		p.MilestoneDeadline = pick(s.chance, earliest-1, add(latest, 1))
	}
}

// spoilTerms puts one of the new parameters out of range.
func (s *story) spoilTerms(p *haggle.NegotiationParams) {
	switch s.IntN(9) {
	case 0:
		p.MilestoneBps[s.IntN(8)] ^= 1
	case 1:
		p.MilestoneCount = uint8(s.IntN(10))
	case 2:
		p.Arbiter = pick(s.chance, solana.PublicKey{}, s.cast.buyer, s.cast.seller, s.cast.arbiter)
	case 3:
		p.MilestoneDeadline = pick(s.chance, 0, 1, p.GlobalDeadline)
	case 4:
		p.ZopaEnabled, p.BondRequired = true, 0
	case 5:
		p.BondRequired = -p.EscrowAmount
	case 6:
		p.MilestoneBps[s.IntN(8)] = uint16(s.IntN(65_536))
	case 7:
		p.MilestoneBps[0], p.MilestoneBps[7] = p.MilestoneBps[7], p.MilestoneBps[0]
	case 8:
		p.Metadata[s.IntN(64)] = byte(s.IntN(256))
	}
}

func (s *story) metadata() (metadata [64]byte) {
	switch n := s.IntN(40); {
	case n == 0:
		metadata[s.IntN(64)] = byte(s.between(1, 255))
	case n < 10:
		first, second := s.bytes32(), s.bytes32()
		metadata[0] = 1
		copy(metadata[1:33], first[:])
		copy(metadata[33:50], second[:])
	}
	return metadata
}

func (s *story) acceptInvitation(d *deal, n *model.Negotiation) haggle.AnyInstruction {
	v := &haggle.AcceptInvitation{Seller: mostly(s.chance, 94, d.parties[1], d.parties[0], s.cast.stranger), Negotiation: d.negotiation,
		TermsHash: n.TermsHash(d.negotiation)}
	switch k := s.IntN(20); {
	case k == 0:
		v.TermsHash = d.firstTerms
	case k == 1 && s.percent(50):
		v.TermsHash = s.bytes32()
	}
	given := 25
	if n.BondRequired > 0 {
		given = 97
	}
	richest := d.currency.tokens[d.parties[1]]
	from := mostly(s.chance, 70, richest[1], richest[0])
	for _, optional := range []struct {
		field *solana.PublicKey
		value solana.PublicKey
	}{{&v.EscrowVault, d.vault}, {&v.SellerTokenAccount, from}, {&v.TokenMint, d.currency.mint}, {&v.TokenProgram, d.currency.program}} {
		if s.percent(given) {
			*optional.field = optional.value
		}
	}
	return v
}

func (s *story) submitOffer(d *deal, n *model.Negotiation) haggle.AnyInstruction {
	turn := n.Turn()
	v := &haggle.SubmitOffer{Offerer: mostly(s.chance, 94, d.parties[turn], d.parties[1-turn], s.cast.stranger), Negotiation: d.negotiation,
		ExpectedRound: s.nearly(n.Round), Metadata: s.metadata()}
	most := n.NextEffective()
	least := n.MinOffer(most)
	switch k := s.IntN(30); {
	case k == 0:
		v.Amount = least - 1
	case k == 1:
		v.Amount = most + 1
	case k == 2:
		v.Amount = pick(s.chance, uint64(0), 1<<64-1)
	case k < 6:
		v.Amount = least
	case k < 9:
		v.Amount = most
	default:
		v.Amount = s.between(min(least, most), most)
	}
	switch k := s.IntN(20); {
	case s.nearEndOfTime():
	case k < 6:
		v.DeadlineExtension = uint32(s.between(1, 3_000))
	case k < 7:
		v.DeadlineExtension = uint32(s.between(1, 90_000))
	case k < 8:
		room := add(n.CreatedAt, 86_400) - n.Deadline
		if n.MilestoneCount > 0 {
			room = min(room, n.MilestoneDeadline-int64(n.MilestoneCount)*n.Review()-n.Deadline)
		}
		v.DeadlineExtension = uint32(max(0, min(room+int64(s.IntN(2)), 1<<31)))
	case k < 9 && s.percent(20):
		v.DeadlineExtension = 1<<32 - 1
	}
	return v
}

func (s *story) acceptOffer(d *deal, n *model.Negotiation) haggle.AnyInstruction {
	turn := n.Turn()
	if n.Round == 0 {
		turn = s.IntN(2)
	}
	v := &haggle.AcceptOffer{Acceptor: mostly(s.chance, 94, d.parties[turn], d.parties[1-turn], s.cast.stranger), Negotiation: d.negotiation,
		EscrowVault: d.vault, BuyerTokenAccount: s.recipient(d, 0), SellerTokenAccount: s.recipient(d, 1), TokenMint: d.currency.mint,
		TokenProgram: d.currency.program, ExpectedRound: s.nearly(n.Round), ExpectedAmount: n.Offer, ExpectedMetadata: n.Metadata}
	if s.percent(2) {
		v.ExpectedAmount--
	}
	if s.percent(2) {
		v.ExpectedMetadata = s.metadata()
	}
	return v
}

func (s *story) submitZopaCommitment(d *deal, n *model.Negotiation) haggle.AnyInstruction {
	side := int(n.ZopaPhase) & 1
	agent := mostly(s.chance, 94, d.parties[side], d.parties[1-side], s.cast.stranger)
	price := pick(s.chance, s.between(1, n.Escrow), s.between(1, n.Escrow), 1, n.Escrow, n.Escrow/2+1)
	if side == 1 && s.percent(15) {
		price = d.secrets[0].price
	}
	if s.percent(2) {
		price = pick(s.chance, 0, n.Escrow+1)
	}
	chosen := secret{price: price, nonce: s.bytes32()}
	if n.ZopaPhase <= model.ZopaBuyerCommitted {
		d.secrets[side] = chosen
	}
	commitment := model.Commitment(d.negotiation, agent, chosen.price, chosen.nonce)
	switch s.IntN(40) {
	case 0:
		commitment = [32]byte{}
	case 1:
		commitment = n.Commitments[0]
	}
	return &haggle.SubmitZopaCommitment{Agent: agent, Negotiation: d.negotiation, Commitment: commitment}
}

func (s *story) revealZopaPrice(d *deal, n *model.Negotiation) haggle.AnyInstruction {
	side := 0
	if n.Prices[0] != 0 {
		side = 1
	}
	known := d.secrets[mostly(s.chance, 96, side, 1-side)]
	v := &haggle.RevealZopaPrice{Agent: mostly(s.chance, 94, d.parties[side], d.parties[1-side], s.cast.stranger), Negotiation: d.negotiation,
		Price: known.price, Nonce: known.nonce}
	switch s.IntN(40) {
	case 0:
		v.Nonce[s.IntN(32)] ^= 1
	case 1:
		v.Price++
	}
	given := 30
	if side == 1 {
		given = 97
	}
	for _, optional := range []struct {
		field *solana.PublicKey
		value solana.PublicKey
	}{
		{&v.EscrowVault, d.vault}, {&v.BuyerTokenAccount, s.recipient(d, 0)}, {&v.SellerTokenAccount, s.recipient(d, 1)},
		{&v.TokenMint, d.currency.mint}, {&v.TokenProgram, d.currency.program},
	} {
		if s.percent(given) {
			*optional.field = optional.value
		}
	}
	return v
}

func (s *story) resolveDispute(d *deal, n *model.Negotiation) haggle.AnyInstruction {
	v := &haggle.ResolveDispute{Arbiter: mostly(s.chance, 94, s.cast.arbiter, d.parties[0], d.parties[1], s.cast.stranger), Negotiation: d.negotiation,
		EscrowVault: d.vault, BuyerTokenAccount: s.recipient(d, 0), SellerTokenAccount: s.recipient(d, 1), TokenMint: d.currency.mint,
		TokenProgram: d.currency.program, Index: s.milestone(n, n.OpenDisputes()),
		SellerBps: uint16(pick(s.chance, s.around(0, 10_000), 0, 5_000, 10_000))}
	v.ForfeitBond = s.percent(5)
	if n.BondState == model.BondHeld {
		v.ForfeitBond = s.percent(40)
	}
	return v
}

func (s *story) claimPayout(d *deal, n *model.Negotiation) haggle.AnyInstruction {
	side := s.IntN(2)
	if n.Claimable[side] == 0 {
		side = 1 - side
	}
	v := &haggle.ClaimPayout{Party: mostly(s.chance, 94, d.parties[side], d.parties[1-side], s.cast.stranger), Negotiation: d.negotiation,
		EscrowVault: d.vault, DestinationTokenAccount: s.recipient(d, side), TokenMint: d.currency.mint, TokenProgram: d.currency.program,
		Amount: n.Claimable[side]}
	if s.percent(20) {
		choices := []solana.PublicKey{d.currency.strangers, d.currency.treasury}
		for _, other := range s.cast.deals {
			choices = append(choices, other.vault)
		}
		v.DestinationTokenAccount = pick(s.chance, choices...)
	}
	switch s.IntN(25) {
	case 0:
		v.Amount = 0
	case 1:
		v.Amount++
	}
	return v
}

func (s *story) closeNegotiation(d *deal, n *model.Negotiation) haggle.AnyInstruction {
	v := &haggle.CloseNegotiation{Closer: pick(s.chance, d.parties[0], d.parties[1], s.cast.stranger), Negotiation: d.negotiation,
		EscrowVault: d.vault, Config: s.cast.config, Buyer: d.parties[0], TokenMint: d.currency.mint, TokenProgram: d.currency.program}
	if s.percent(96) {
		v.TreasuryTokenAccount = s.treasuryTokens(d)
	}
	for side, field := range []*solana.PublicKey{&v.BuyerTokenAccount, &v.SellerTokenAccount} {
		if given := map[bool]int{true: 95, false: 40}[n.Claimable[side] > 0]; s.percent(given) {
			*field = s.recipient(d, side)
		}
	}
	return v
}

// treasuryTokens is an account of whoever is the treasury now, if there is one.
func (s *story) treasuryTokens(d *deal) solana.PublicKey {
	config := s.config()
	if config == nil {
		return d.currency.treasury
	}
	switch config.Treasury {
	case s.cast.stranger:
		return d.currency.strangers
	case s.cast.buyer:
		return mostly(s.chance, 90, d.currency.tokens[s.cast.buyer][0], d.currency.treasury)
	}
	return d.currency.treasury
}

// recipient is a token account that a party is to be paid to: mostly its own.
func (s *story) recipient(d *deal, side int) solana.PublicKey {
	own := d.currency.tokens[d.parties[side]]
	return weigh(s.chance, []weighted[solana.PublicKey]{{68, own[0]}, {29, own[1]}, {3, d.currency.strangers}})
}

// bondRecipient is where the seller gets its bond, often left out where there is none.
func (s *story) bondRecipient(d *deal, n *model.Negotiation) solana.PublicKey {
	if given := map[bool]int{true: 93, false: 30}[n.BondState == model.BondHeld]; !s.percent(given) {
		return solana.PublicKey{}
	}
	return s.recipient(d, 1)
}

func (s *story) nearly(round uint8) uint8 { return mostly(s.chance, 97, round, round-1, round+1) }

// milestone is a milestone whose bit is set, or mostly.
func (s *story) milestone(n *model.Negotiation, mask uint8) uint8 {
	var set []uint8
	for i := range n.MilestoneCount {
		if mask>>i&1 == 1 {
			set = append(set, i)
		}
	}
	if len(set) == 0 || s.percent(4) {
		return pick(s.chance, 0, uint8(s.IntN(8)), n.MilestoneCount, 8, 255)
	}
	return pick(s.chance, set...)
}
