package model

type AcceptInvitation struct {
	Seller             Address `account:"signer"`
	Negotiation        Address `account:"writable,negotiation"`
	EscrowVault        Address `account:"writable,optional"`
	SellerTokenAccount Address `account:"writable,optional"`
	TokenMint          Address `account:""`
	TokenProgram       Address `account:"optional"`

	TermsHash [32]byte
	Decimals  uint8
}

func (i *AcceptInvitation) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	wrong := e.checkEscrow(i.Negotiation, n)
	if e.given("seller_token_account") {
		_, isSellers := e.ownedTokenAccount(i.SellerTokenAccount, n, n.Parties[Seller])
		wrong.token = !isSellers
	}
	if err := firstError(
		wrong.first(),
		failIf(n.Status != StatusCreated, InvalidState),
		e.checkTurnClock(n),
		failIf(i.Seller != n.Parties[Seller], Unauthorized),
		failIf(i.TermsHash != n.TermsHash(i.Negotiation), StaleState),
		failIf(!hasDecimals(e.account(i.TokenMint), i.Decimals), StaleState),
	); err != nil {
		return err
	}
	if n.BondRequired > 0 {
		if err := e.require("escrow_vault", "seller_token_account", "token_program"); err != nil {
			return err
		}
	}

	n.Status = StatusProposed
	if err := e.startTurn(n); err != nil {
		return err
	}
	if n.BondRequired > 0 {
		if err := e.deposit(i.SellerTokenAccount, i.EscrowVault, n.BondRequired); err != nil {
			return err
		}
		n.BondState = BondHeld
		e.note("bond deposited")
	}
	e.store(i.Negotiation, n)
	e.log("InvitationAccepted", "negotiation_id", i.Negotiation, "seller", i.Seller, "bond", n.BondRequired,
		"turn_deadline", n.TurnDeadline, "timestamp", e.now())
	e.note("invitation accepted")
	return nil
}
