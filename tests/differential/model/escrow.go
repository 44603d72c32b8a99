package model

// addressErrors records which kinds of account addresses are wrong. The most severe error decides the code.
type addressErrors struct{ pda, stored, token, program bool }

func (a *addressErrors) first() error {
	return firstError(
		failIf(a.pda, ConstraintSeeds),
		failIf(a.stored, ConstraintHasOne),
		failIf(a.token, ConstraintRaw),
		failIf(a.program, InvalidProgramID),
	)
}

// checkEscrow checks the vault, mint and mint's program, as far as the instruction gives them.
func (e *execution) checkEscrow(address Address, n *Negotiation) addressErrors {
	var wrong addressErrors
	if e.given("escrow_vault") {
		wrong.pda = e.key("escrow_vault") != storedVault(address, n.VaultBump)
	}
	if e.given("token_mint") {
		wrong.stored = e.key("token_mint") != n.TokenMint
	}
	if e.given("token_program") {
		program := e.key("token_program")
		if e.given("token_mint") {
			wrong.program = program != e.tokenProgramOf(n)
		} else {
			// If the mint is missing, the instruction does not know the mint's program, and does not call it.
			wrong.program = program != tokenProgram && program != token2022Program
		}
	}
	return wrong
}

func (e *execution) tokenProgramOf(n *Negotiation) Address { return e.account(n.TokenMint).Owner }

// ownedTokenAccount reads a token account. It returns false unless program and mint are the negotiation's and
// the account belongs to the given owner.
func (e *execution) ownedTokenAccount(address Address, n *Negotiation, owner Address) (TokenAccount, bool) {
	t, ok := e.tokenAccount(address)
	return t, ok && t.Program == e.tokenProgramOf(n) && t.Mint == n.TokenMint && t.Owner == owner
}

// isPayable reports whether an account is payable to the owner: it accepts transfers, and either the owner is
// the only declared signer of this instruction, which chooses the account, or it alone controls the account.
func (e *execution) isPayable(address Address, n *Negotiation, owner Address) bool {
	t, ok := e.ownedTokenAccount(address, n, owner)
	return ok && t.CanReceive && (e.isOnlySigner(owner) || t.isControlledByOwner())
}

// isControlledByOwner reports whether an account lacks both delegate and close authority.
func (t TokenAccount) isControlledByOwner() bool { return !t.HasDelegate && !t.HasCloseAuthority }

// canPay reports whether a vault can pay an amount. It returns false if the vault is frozen, or if it holds
// wrapped SOL and a rent increase has reduced the tokens.
func (e *execution) canPay(vault Address, amount uint64) bool {
	t, ok := e.tokenAccount(vault)
	return ok && !t.IsFrozen && t.Amount >= amount
}

// recipient is the token account that the instruction gives for a party.
type recipient struct {
	address Address
	payable bool
}

// recipients returns the instruction's token accounts for the parties. An unpayable account must be the party's
// associated token account, otherwise wrong.token is set.
func (e *execution) recipients(n *Negotiation, wrong *addressErrors) [2]recipient {
	var both [2]recipient
	for side, name := range [2]string{"buyer_token_account", "seller_token_account"} {
		if !e.given(name) {
			continue
		}
		address, party := e.key(name), n.Parties[side]
		both[side] = recipient{address, e.isPayable(address, n, party)}
		if !both[side].payable && address != AssociatedAddress(party, e.tokenProgramOf(n), n.TokenMint) {
			wrong.token = true
		}
	}
	return both
}

// pay pays each party an amount from the vault. It records an amount that the recipient cannot receive, and
// both amounts if the vault cannot pay their sum.
func (e *execution) pay(address Address, n *Negotiation, amounts [2]uint64, to [2]recipient) {
	vault := storedVault(address, n.VaultBump)
	vaultPays := e.canPay(vault, amounts[Buyer]+amounts[Seller])
	for side, amount := range amounts {
		switch {
		case amount == 0:
		case vaultPays && to[side].payable:
			if t, _ := e.tokenAccount(to[side].address); t.HasDelegate || t.HasCloseAuthority {
				e.note("delivered to a signer's account with a delegate or close authority")
			}
			e.transfer(vault, to[side].address, amount)
			e.note("delivered to the " + sideNames[side])
		default:
			n.Claimable[side] += amount
			e.log("PayoutRecorded", "negotiation_id", address, "party", n.Parties[side], "amount", amount,
				"timestamp", e.now())
			e.noteRecorded(n, side, to[side].address)
		}
	}
	e.store(address, n)
}

func (e *execution) noteRecorded(n *Negotiation, side int, address Address) {
	e.note("recorded for the " + sideNames[side])
	t, ok := e.ownedTokenAccount(address, n, n.Parties[side])
	if ok && t.CanReceive && t.HasDelegate && !e.isOnlySigner(n.Parties[side]) {
		e.note("recorded because of a delegate")
	}
	if ok && t.CanReceive && t.HasCloseAuthority && !e.isOnlySigner(n.Parties[side]) {
		e.note("recorded because of a close authority")
	}
}
