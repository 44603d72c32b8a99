package model

import "math/bits"

const (
	minEscrow      = 100_000
	maxReviewHours = 168

	day  = 86_400
	year = 365 * day
)

// NegotiationParams contains a negotiation's parameters.
type NegotiationParams struct {
	EscrowAmount      uint64
	ServiceHash       [32]byte
	MaxRounds         uint8
	DecayRateBps      uint16
	ResponseWindow    int64
	GlobalDeadline    int64
	MinOfferBps       uint16
	ZopaEnabled       bool
	BondRequired      uint64
	Arbiter           Address
	MilestoneBps      [8]uint16
	MilestoneDeadline int64
	ReviewHours       uint8
	Metadata          [64]byte
	MaxFeeBps         uint16
	Decimals          uint8
}

type CreateNegotiation struct {
	Buyer             Address `account:"signer,writable"`
	Seller            Address `account:""`
	Negotiation       Address `account:"writable,vacant"`
	EscrowVault       Address `account:"writable,vacant"`
	BuyerTokenAccount Address `account:"writable"`
	TokenMint         Address `account:"mint"`
	Config            Address `account:"config"`
	TokenProgram      Address `account:""`
	SystemProgram     Address `account:""`

	SessionID uint64
	Params    NegotiationParams
}

func (i *CreateNegotiation) execute(e *execution) error {
	negotiationPDA, vaultPDA := deriveNegotiation(i.Buyer, i.Seller, i.SessionID), deriveVault(i.Negotiation)
	config, _ := ReadConfig(e.account(i.Config).Data)
	n := i.newNegotiation(e.now())
	n.Bump, n.VaultBump = negotiationPDA.bump, vaultPDA.bump
	n.ProtocolFeeBps = config.DefaultProtocolFeeBps

	_, isBuyers := e.ownedTokenAccount(i.BuyerTokenAccount, n, i.Buyer)
	wrong := addressErrors{
		pda: i.Negotiation != negotiationPDA.address || i.EscrowVault != vaultPDA.address ||
			i.Config != configPDA.address,
		token:   !isBuyers,
		program: i.TokenProgram != e.tokenProgramOf(n) || i.SystemProgram != systemProgram,
	}
	if err := firstError(
		wrong.first(),
		failIf(!isSupportedMint(e.account(i.TokenMint)), UnsupportedMint),
		failIf(!n.termsInRange() || !hasDecimals(e.account(i.TokenMint), i.Params.Decimals), InvalidParams),
		failIf(config.IsPaused, Paused),
		failIf(config.DefaultProtocolFeeBps > i.Params.MaxFeeBps, StaleState),
	); err != nil {
		return err
	}

	if err := e.create(i.Buyer, i.Negotiation, ProgramID, n.Bytes()); err != nil {
		return err
	}
	if err := e.createVault(i.Buyer, i.EscrowVault, i.Negotiation, n); err != nil {
		return err
	}
	if err := e.deposit(i.BuyerTokenAccount, i.EscrowVault, n.EscrowAmount); err != nil {
		return err
	}
	e.logCreated(i.Negotiation, n)
	e.noteTerms(n)
	return nil
}

func (i *CreateNegotiation) newNegotiation(now int64) *Negotiation {
	p := i.Params
	n := &Negotiation{
		Parties:           [2]Address{Buyer: i.Buyer, Seller: i.Seller},
		SessionID:         i.SessionID,
		ServiceHash:       p.ServiceHash,
		EscrowAmount:      p.EscrowAmount,
		EffectiveEscrow:   p.EscrowAmount,
		TokenMint:         i.TokenMint,
		MaxRounds:         p.MaxRounds,
		DecayRateBps:      p.DecayRateBps,
		ResponseWindow:    p.ResponseWindow,
		GlobalDeadline:    p.GlobalDeadline,
		MinOfferBps:       p.MinOfferBps,
		ZopaEnabled:       p.ZopaEnabled,
		CreatedAt:         now,
		ZopaPhase:         ZopaSkipped,
		Metadata:          p.Metadata,
		Version:           accountVersion,
		TurnDeadline:      p.GlobalDeadline,
		BondRequired:      p.BondRequired,
		Arbiter:           p.Arbiter,
		ReviewHours:       p.ReviewHours,
		MilestoneBps:      p.MilestoneBps,
		MilestoneDeadline: p.MilestoneDeadline,
	}
	if p.ZopaEnabled {
		n.ZopaPhase = ZopaNotStarted
	}
	return n
}

func (n *Negotiation) termsInRange() bool {
	_, carry := bits.Add64(n.EscrowAmount, n.BondRequired, 0)
	return n.Parties[Buyer] != n.Parties[Seller] &&
		n.EscrowAmount >= minEscrow && carry == 0 &&
		n.MaxRounds >= 1 && n.MaxRounds <= 20 &&
		n.DecayRateBps <= 1_000 &&
		n.ResponseWindow >= 60 && n.ResponseWindow <= 3_600 &&
		within(n.CreatedAt, n.GlobalDeadline, 60, day) &&
		n.MinOfferBps >= 100 && n.MinOfferBps <= 9_000 &&
		(!n.ZopaEnabled || n.BondRequired > 0) &&
		isMetadata(n.Metadata) &&
		n.milestonesInRange()
}

func (n *Negotiation) milestonesInRange() bool {
	if n.MilestoneBps == [8]uint16{} {
		return n.Arbiter == Address{} && n.MilestoneDeadline == 0 && n.ReviewHours == 0
	}
	sum := 0
	for i, bps := range n.MilestoneBps {
		if bps > 0 && i >= int(n.MilestoneCount()) {
			return false // A share follows a zero.
		}
		sum += int(bps)
	}
	return sum == maxBps &&
		n.Arbiter != Address{} && n.Arbiter != n.Parties[Buyer] && n.Arbiter != n.Parties[Seller] &&
		n.ReviewHours >= 1 && n.ReviewHours <= maxReviewHours &&
		within(n.GlobalDeadline, n.MilestoneDeadline, uint64(n.MinMilestoneSpan()), year) &&
		within(n.CreatedAt, n.MilestoneDeadline, 0, year)
}

func (e *execution) createVault(payer, vault, negotiation Address, n *Negotiation) error {
	rent := e.environment.Rent.Exempt(tokenAccountSize)
	lamports := max(rent, e.account(vault).Lamports)
	data := newTokenAccount(n.TokenMint, negotiation, rent, lamports)
	return e.create(payer, vault, e.tokenProgramOf(n), data)
}

func (e *execution) logCreated(address Address, n *Negotiation) {
	e.log("NegotiationCreated", "negotiation_id", address, "buyer", n.Parties[Buyer],
		"seller", n.Parties[Seller], "escrow_amount", n.EscrowAmount, "token_mint", n.TokenMint,
		"max_rounds", n.MaxRounds, "decay_rate_bps", n.DecayRateBps, "global_deadline", n.GlobalDeadline,
		"timestamp", e.now(), "session_id", n.SessionID, "service_hash", n.ServiceHash,
		"response_window", n.ResponseWindow, "min_offer_bps", n.MinOfferBps,
		"protocol_fee_bps", n.ProtocolFeeBps, "zopa_enabled", n.ZopaEnabled, "bond_required", n.BondRequired,
		"arbiter", n.Arbiter, "milestone_bps", n.MilestoneBps, "milestone_deadline", n.MilestoneDeadline,
		"review_hours", n.ReviewHours, "metadata", n.Metadata)
}

func (e *execution) noteTerms(n *Negotiation) {
	e.note("created")
	for _, term := range []struct {
		holds   bool
		outcome string
	}{
		{n.ZopaEnabled, "created with ZOPA"},
		{n.BondRequired > 0, "created with a bond"},
		{n.MilestoneCount() > 0, "created with milestones"},
		{n.MilestoneCount() == 8, "created with eight milestones"},
		{n.ReviewHours == maxReviewHours, "created with the longest review window"},
		{e.tokenProgramOf(n) == token2022Program, "created under Token-2022"},
		{isWrappedSOL(n.TokenMint), "created with wrapped SOL"},
		{n.Metadata[0] == 1, "created with metadata of kind 1"},
		{n.Metadata[0] == 2, "created with metadata of kind 2"},
	} {
		if term.holds {
			e.note(term.outcome)
		}
	}
}
