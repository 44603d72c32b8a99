package model

// payee is a party that may be paid in this instruction, and the token account that was given for it.
type payee struct {
	given    bool
	account  Address
	receives bool
}

// payees looks at the accounts that the parties are to be paid to. An account of the party's that can receive is right; so is
// the party's associated token account whatever has become of it. Any other account makes wrong.token true.
func (c *call) payees(n *Negotiation, wrong *wrongAddresses) [2]payee {
	var both [2]payee
	for side, name := range [2]string{"buyer_token_account", "seller_token_account"} {
		if !c.given(name) {
			continue
		}
		account := c.key(name)
		held, _ := c.tokenAccount(account)
		receives := c.belongs(account, n, n.Parties[side]) && held.CanReceive
		both[side] = payee{given: true, account: account, receives: receives}
		if !receives && account != associatedAddress(n.Parties[side], c.tokenProgramOf(n), n.Mint) {
			wrong.token = true
		}
	}
	return both
}

var partyNames = [2]string{"buyer", "seller"}

// pay pays each party one sum from the vault, or records it when it cannot be delivered: when the party's account cannot
// receive it, or the vault cannot pay what is due in all.
func (c *call) pay(address Address, n *Negotiation, vault Address, sums [2]uint64, payees [2]payee) {
	vaultPays := c.canPay(vault, sums[Buyer]+sums[Seller])
	for side, sum := range sums {
		switch {
		case sum == 0:
		case vaultPays && payees[side].receives:
			c.transfer(vault, payees[side].account, sum)
			c.happened("delivered to the " + partyNames[side])
		default:
			n.Claimable[side] += sum
			c.log("PayoutRecorded", "negotiation_id", address, "party", n.Parties[side], "amount", sum, "timestamp", c.world.Now)
			c.happened("recorded for the " + partyNames[side])
		}
	}
	c.store(address, n)
}

// settleBond gives the bond to a side, and is what that side gets for it.
func (c *call) settleBond(address Address, n *Negotiation, side int) [2]uint64 {
	var sums [2]uint64
	if n.BondState != BondHeld {
		return sums
	}
	n.BondState = BondReturned
	outcome := "bond returned"
	if side == Buyer {
		n.BondState = BondForfeited
		outcome = "bond forfeited"
	}
	sums[side] = n.BondRequired
	c.log("BondSettled", "negotiation_id", address, "to", n.Parties[side], "amount", n.BondRequired, "timestamp", c.world.Now)
	c.happened(outcome)
	return sums
}

func added(a, b [2]uint64) [2]uint64 {
	return [2]uint64{a[Buyer] + b[Buyer], a[Seller] + b[Seller]}
}

// settle is the end with a price: all that was agreed on has been paid or refunded.
func (c *call) settle(address Address, n *Negotiation) {
	n.Status = Settled
	n.SettledAt = c.world.Now
	c.log("NegotiationSettled", "negotiation_id", address, "buyer", n.Parties[Buyer], "seller", n.Parties[Seller],
		"settled_amount", n.PaidGross, "total_rounds", n.Round, "protocol_fee", n.fee(), "escrow_decay_total", n.decay(),
		"timestamp", c.world.Now, "token_mint", n.Mint, "service_hash", n.ServiceHash, "metadata", n.Metadata)
}
