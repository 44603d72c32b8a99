package model

import "math/bits"

const (
	minEscrow = 100_000
	day       = 86_400
	year      = 365 * day
)

func (c *call) createNegotiation() error {
	buyer, seller := c.key("buyer"), c.key("seller")
	address, vault, from, mint := c.key("negotiation"), c.key("escrow_vault"), c.key("buyer_token_account"), c.key("token_mint")
	n := &Negotiation{Parties: [2]Address{buyer, seller}, Mint: mint, Version: accountVersion, CreatedAt: c.world.Now}
	c.arguments.read(&n.SessionID)

	negotiationPDA, vaultPDA := negotiationAddress(buyer, seller, n.SessionID), vaultAddress(address)
	wrong := wrongAddresses{
		seeds: address != negotiationPDA.address || vault != vaultPDA.address || c.key("config") != configAddress.address,
		token: !c.belongs(from, n, buyer),
		program: c.key("token_program") != c.tokenProgramOf(n) ||
			c.key("system_program") != systemProgram,
	}
	c.readTerms(n)
	config, _ := ReadConfig(c.account(c.key("config")).Data)
	if err := first(
		wrong.worst(),
		refuse(!isSupportedMint(c.account(mint)), UnsupportedMint),
		refuse(!c.termsInRange(n), InvalidParams),
		refuse(config.Paused, Paused),
	); err != nil {
		return err
	}

	n.Bump, n.VaultBump = negotiationPDA.bump, vaultPDA.bump
	n.FeeBps = config.FeeBps
	n.Effective = n.Escrow
	n.TurnDeadline = n.Deadline
	n.ZopaPhase = ZopaSkipped
	if n.ZopaEnabled {
		n.ZopaPhase = ZopaNotStarted
	}
	if err := c.create(buyer, address, ProgramID, n.Bytes()); err != nil {
		return err
	}
	if err := c.createVault(buyer, vault, address, n); err != nil {
		return err
	}
	if err := c.deposit(from, vault, n.Escrow); err != nil {
		return err
	}
	c.logCreated(address, n)
	c.noteTerms(n)
	return nil
}

// readTerms reads the parameters.
func (c *call) readTerms(n *Negotiation) {
	for _, field := range []any{
		&n.Escrow, &n.ServiceHash, &n.MaxRounds, &n.DecayBps, &n.Window, &n.Deadline, &n.MinOfferBps, &n.ZopaEnabled,
		&n.BondRequired, &n.Arbiter, &n.MilestoneCount, &n.MilestoneBps, &n.MilestoneDeadline, &n.Metadata,
	} {
		c.arguments.read(field)
	}
}

func (c *call) termsInRange(n *Negotiation) bool {
	_, carry := bits.Add64(n.Escrow, n.BondRequired, 0)
	return n.Parties[Buyer] != n.Parties[Seller] &&
		n.Escrow >= minEscrow && carry == 0 &&
		n.MaxRounds >= 1 && n.MaxRounds <= 20 &&
		n.DecayBps <= 1_000 &&
		n.Window >= 60 && n.Window <= 3_600 &&
		between(c.world.Now, n.Deadline, 60, day) &&
		n.MinOfferBps >= 100 && n.MinOfferBps <= 9_000 &&
		(!n.ZopaEnabled || n.BondRequired > 0) &&
		isMetadata(n.Metadata) &&
		milestonesInRange(n)
}

func milestonesInRange(n *Negotiation) bool {
	if n.MilestoneCount == 0 {
		return n.Arbiter == Address{} && n.MilestoneBps == [8]uint16{} && n.MilestoneDeadline == 0
	}
	if n.MilestoneCount > 8 {
		return false
	}
	sum := 0
	for i, bps := range n.MilestoneBps {
		if (bps > 0) != (i < int(n.MilestoneCount)) {
			return false
		}
		sum += int(bps)
	}
	return sum == whole &&
		n.Arbiter != Address{} && n.Arbiter != n.Parties[Buyer] && n.Arbiter != n.Parties[Seller] &&
		between(n.Deadline, n.MilestoneDeadline, uint64(n.MilestoneCount)*uint64(n.Review()), year) &&
		between(n.CreatedAt, n.MilestoneDeadline, 0, year)
}

func (c *call) createVault(payer, vault, negotiation Address, n *Negotiation) error {
	rent := c.world.Rent.Exempt(tokenAccountSize)
	lamports := max(rent, c.account(vault).Lamports)
	return c.create(payer, vault, c.tokenProgramOf(n), newTokenAccount(n.Mint, negotiation, rent, lamports))
}

func (c *call) logCreated(address Address, n *Negotiation) {
	c.log("NegotiationCreated", "negotiation_id", address, "buyer", n.Parties[Buyer], "seller", n.Parties[Seller],
		"escrow_amount", n.Escrow, "token_mint", n.Mint, "max_rounds", n.MaxRounds, "decay_rate_bps", n.DecayBps,
		"global_deadline", n.Deadline, "timestamp", c.world.Now, "session_id", n.SessionID, "service_hash", n.ServiceHash,
		"response_window", n.Window, "min_offer_bps", n.MinOfferBps, "protocol_fee_bps", n.FeeBps,
		"zopa_enabled", n.ZopaEnabled, "bond_required", n.BondRequired, "arbiter", n.Arbiter,
		"milestone_count", n.MilestoneCount, "milestone_bps", n.MilestoneBps, "milestone_deadline", n.MilestoneDeadline,
		"metadata", n.Metadata)
}

func (c *call) noteTerms(n *Negotiation) {
	c.happened("created")
	for _, term := range []struct {
		has     bool
		outcome string
	}{
		{n.ZopaEnabled, "created with sealed prices"},
		{n.BondRequired > 0, "created with a bond"},
		{n.MilestoneCount > 0, "created with milestones"},
		{n.MilestoneCount == 8, "created with eight milestones"},
		{c.tokenProgramOf(n) == token2022Program, "created under Token-2022"},
		{isWrappedSOL(n.Mint), "created with wrapped SOL"},
		{n.Metadata[0] == 1, "created with metadata"},
	} {
		if term.has {
			c.happened(term.outcome)
		}
	}
}
