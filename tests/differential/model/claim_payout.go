package model

type ClaimPayout struct {
	Party                   Address `account:"signer"`
	Negotiation             Address `account:"writable,negotiation"`
	EscrowVault             Address `account:"writable"`
	DestinationTokenAccount Address `account:"writable"`
	TokenMint               Address `account:""`
	TokenProgram            Address `account:""`

	CreatedAt int64
	Amount    uint64
}

func (i *ClaimPayout) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	destination, ok := e.tokenAccount(i.DestinationTokenAccount)
	receives := ok && destination.CanReceive && destination.Program == e.tokenProgramOf(n) &&
		destination.Mint == n.TokenMint
	wrong := e.checkEscrow(i.Negotiation, n)
	wrong.token = !receives || i.DestinationTokenAccount == i.EscrowVault
	side, isParty := n.SideOf(i.Party)
	if err := firstError(
		wrong.first(),
		failIf(i.Amount == 0, InvalidParams),
		failIf(n.IsOpen(), InvalidState),
		failIf(!isParty, Unauthorized),
		failIf(i.CreatedAt != n.CreatedAt || i.Amount != n.Claimable[side], StaleState),
		failIf(!e.canPay(i.EscrowVault, i.Amount), PayoutPending),
	); err != nil {
		return err
	}

	n.Claimable[side] = 0
	e.store(i.Negotiation, n)
	e.transfer(i.EscrowVault, i.DestinationTokenAccount, i.Amount)
	e.logClaimed(i.Negotiation, n, side, i.Amount)
	e.note("claimed by the " + sideNames[side])
	if n.Status == StatusAccepted {
		e.note("claimed while milestones are open")
	}
	if destination.HasDelegate || destination.HasCloseAuthority {
		e.note("claimed to an account with a delegate or close authority")
	}
	return nil
}

func (e *execution) logClaimed(address Address, n *Negotiation, side int, amount uint64) {
	e.log("PayoutClaimed", "negotiation_id", address, "party", n.Parties[side], "amount", amount,
		"timestamp", e.now())
}
