package model

func (c *call) claimPayout() error {
	address, n := c.negotiation()
	var amount uint64
	c.arguments.read(&amount)

	vault, to := c.key("escrow_vault"), c.key("destination_token_account")
	destination, ok := c.tokenAccount(to)
	receives := ok && destination.Program == c.tokenProgramOf(n) && destination.Mint == n.Mint && destination.CanReceive
	wrong := c.checkEscrow(address, n)
	wrong.token = !receives || to == vault
	side, isParty := n.SideOf(c.signer())
	if err := first(
		wrong.worst(),
		refuse(amount == 0, InvalidParams),
		refuse(n.IsOpen(), InvalidState),
		refuse(!isParty, Unauthorized),
		refuse(amount != n.Claimable[side], StaleState),
		refuse(!c.canPay(vault, amount), PayoutPending),
	); err != nil {
		return err
	}

	n.Claimable[side] = 0
	c.store(address, n)
	c.transfer(vault, to, amount)
	c.logClaimed(address, n, side, amount)
	c.happened("claimed by the " + partyNames[side])
	if n.Status == Accepted {
		c.happened("claimed while milestones are open")
	}
	return nil
}

func (c *call) logClaimed(address Address, n *Negotiation, side int, amount uint64) {
	c.log("PayoutClaimed", "negotiation_id", address, "party", n.Parties[side], "amount", amount, "timestamp", c.world.Now)
}

func (c *call) closeNegotiation() error {
	address, n := c.negotiation()
	vault, buyer := c.key("escrow_vault"), c.key("buyer")
	config, _ := ReadConfig(c.account(c.key("config")).Data)
	recipients := [3]struct {
		name  string
		owner Address
	}{
		{"buyer_token_account", n.Parties[Buyer]},
		{"seller_token_account", n.Parties[Seller]},
		{"treasury_token_account", config.Treasury},
	}
	wrong := c.checkEscrow(address, n)
	wrong.seeds = wrong.seeds || c.key("config") != configAddress.address
	wrong.stored = wrong.stored || buyer != n.Parties[Buyer]
	for _, recipient := range recipients {
		if c.given(recipient.name) {
			wrong.token = wrong.token || !c.belongs(c.key(recipient.name), n, recipient.owner)
		}
	}
	if err := first(wrong.worst(), refuse(!n.IsOver(), InvalidState)); err != nil {
		return err
	}

	held, _ := c.tokenAccount(vault)
	kept := n.Claimable[Buyer] + n.Claimable[Seller]
	if held.Amount < kept || (held.Amount > 0 && held.IsFrozen) {
		return PayoutPending
	}
	earned := n.fee() + n.decay()
	swept := held.Amount - kept
	if isWrappedSOL(n.Mint) {
		// Anyone can have lamports that nobody is owed counted as tokens; they go to the buyer with the rent.
		swept = min(swept, earned)
	}
	amounts := [3]uint64{n.Claimable[Buyer], n.Claimable[Seller], swept}
	for i, recipient := range recipients {
		account, _ := c.tokenAccount(c.key(recipient.name))
		if amounts[i] > 0 && !(c.given(recipient.name) && account.CanReceive) {
			return PayoutPending
		}
	}
	for i, recipient := range recipients {
		if amounts[i] > 0 {
			c.transfer(vault, c.key(recipient.name), amounts[i])
		}
	}
	c.noteClosing(n, held.Amount-kept, swept)
	for side, amount := range n.Claimable {
		if amount > 0 {
			c.logClaimed(address, n, side, amount)
		}
	}
	c.log("NegotiationClosed", "negotiation_id", address, "closed_by", c.signer(), "swept", swept, "timestamp", c.world.Now)

	config.Negotiations = saturatingAdd(config.Negotiations, 1)
	config.Volume = saturatingAdd(config.Volume, n.PaidGross)
	config.Fees = saturatingAdd(config.Fees, n.fee())
	account := c.account(configAddress.address)
	account.Data = config.Bytes()
	c.put(configAddress.address, account)
	c.remove(vault, buyer)
	c.remove(address, buyer)
	return nil
}

func (c *call) noteClosing(n *Negotiation, left, swept uint64) {
	by := "a stranger"
	if side, ok := n.SideOf(c.signer()); ok {
		by = "the " + partyNames[side]
	}
	c.happened("closed by " + by)
	for side, amount := range n.Claimable {
		if amount > 0 {
			c.happened("closed delivering to the " + partyNames[side])
		}
	}
	if swept == 0 {
		c.happened("closed with nothing for the treasury")
	}
	if left > n.fee()+n.decay() {
		c.happened("closed with a donation")
	}
}
