package model

type CloseNegotiation struct {
	Closer               Address `account:"signer"`
	Negotiation          Address `account:"writable,negotiation"`
	EscrowVault          Address `account:"writable"`
	Config               Address `account:"writable,config"`
	Buyer                Address `account:"writable"`
	TreasuryTokenAccount Address `account:"writable,optional"`
	BuyerTokenAccount    Address `account:"writable,optional"`
	SellerTokenAccount   Address `account:"writable,optional"`
	TokenMint            Address `account:""`
	TokenProgram         Address `account:""`
}

// delivery is an amount that close_negotiation delivers.
type delivery struct {
	name   string
	to     Address
	owner  Address
	amount uint64
}

func (i *CloseNegotiation) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	config, _ := ReadConfig(e.account(i.Config).Data)
	held, _ := e.tokenAccount(i.EscrowVault)
	claimable := n.Claimable[Buyer] + n.Claimable[Seller]
	swept := n.swept(held.Amount - claimable)
	deliveries := []delivery{
		{"buyer_token_account", i.BuyerTokenAccount, n.Parties[Buyer], n.Claimable[Buyer]},
		{"seller_token_account", i.SellerTokenAccount, n.Parties[Seller], n.Claimable[Seller]},
		{"treasury_token_account", i.TreasuryTokenAccount, config.Treasury, swept},
	}

	wrong := e.checkEscrow(i.Negotiation, n)
	wrong.pda = wrong.pda || i.Config != configPDA.address
	wrong.stored = wrong.stored || i.Buyer != n.Parties[Buyer]
	for _, d := range deliveries {
		_, isOwners := e.ownedTokenAccount(d.to, n, d.owner)
		wrong.token = wrong.token || e.given(d.name) && !isOwners
	}
	if err := firstError(
		wrong.first(),
		failIf(!n.IsOver() || e.now() <= n.CreatedAt, InvalidState),
		failIf(held.Amount < claimable || held.Amount > 0 && held.IsFrozen, PayoutPending),
	); err != nil {
		return err
	}
	for _, d := range deliveries {
		// The closer's signature names no deal, so there is no exception for the accounts of the closer.
		t, isOwners := e.ownedTokenAccount(d.to, n, d.owner)
		isPayable := e.given(d.name) && isOwners && t.CanReceive && t.isControlledByOwner()
		if d.amount > 0 && !isPayable {
			return PayoutPending
		}
	}

	e.noteClosing(n, i.Closer, held.Amount-claimable, swept)
	for _, d := range deliveries {
		if d.amount > 0 {
			e.transfer(i.EscrowVault, d.to, d.amount)
		}
	}
	for side, amount := range n.Claimable {
		if amount > 0 {
			e.logClaimed(i.Negotiation, n, side, amount)
		}
	}
	e.log("NegotiationClosed", "negotiation_id", i.Negotiation, "closed_by", i.Closer, "swept", swept,
		"timestamp", e.now())

	config.TotalNegotiations = saturatingAdd(config.TotalNegotiations, 1)
	config.TotalSettledVolume = saturatingAdd(config.TotalSettledVolume, n.PaidGross)
	config.TotalFeesCollected = saturatingAdd(config.TotalFeesCollected, n.fee())
	account := e.account(i.Config)
	account.Data = config.Bytes()
	e.put(i.Config, account)
	e.remove(i.EscrowVault, i.Buyer)
	e.remove(i.Negotiation, i.Buyer)
	return nil
}

// swept computes the treasury's part of the vault's unclaimed tokens. Anyone can turn lamports in a vault of
// wrapped SOL into tokens, so there the treasury gets at most fee and decay; the buyer gets the rest with the
// lamports.
func (n *Negotiation) swept(unclaimed uint64) uint64 {
	if isWrappedSOL(n.TokenMint) {
		return min(unclaimed, n.fee()+n.decay())
	}
	return unclaimed
}

func (e *execution) noteClosing(n *Negotiation, closer Address, unclaimed, swept uint64) {
	by := "a third party"
	if side, ok := n.SideOf(closer); ok {
		by = "the " + sideNames[side]
	}
	e.note("closed by " + by)
	for side, amount := range n.Claimable {
		if amount > 0 {
			e.note("closed with a delivery to the " + sideNames[side])
		}
	}
	if swept == 0 {
		e.note("closed with nothing for the treasury")
	}
	if unclaimed > n.fee()+n.decay() {
		e.note("closed with a donation")
	}
}
