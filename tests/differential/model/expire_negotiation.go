package model

type ExpireNegotiation struct {
	Negotiation        Address `account:"writable,negotiation"`
	EscrowVault        Address `account:"writable"`
	BuyerTokenAccount  Address `account:"writable"`
	SellerTokenAccount Address `account:"writable,optional"`
	TokenMint          Address `account:""`
	TokenProgram       Address `account:""`
}

func (i *ExpireNegotiation) execute(e *execution) error {
	n := e.negotiation(i.Negotiation)
	wrong := e.checkEscrow(i.Negotiation, n)
	to := e.recipients(n, &wrong)
	late := e.checkTurnClock(n)
	if err := firstError(
		wrong.first(),
		failIf(!n.IsOpen() || late == nil, InvalidState),
	); err != nil {
		return err
	}
	toBuyer, reason := n.delayed(true), BondNoDeal
	if n.sellerOwesReveal() {
		toBuyer, reason = n.BondRequired, BondForfeit
	}
	if n.BondState == BondHeld && toBuyer < n.BondRequired {
		if err := e.require("seller_token_account"); err != nil {
			return err
		}
	}
	deadline := "response window"
	if late == error(Expired) {
		deadline = "global deadline"
	}
	e.note("expired past the " + deadline + " " + n.phase())
	n.Status = StatusExpired
	e.log("NegotiationExpired", "negotiation_id", i.Negotiation, "refund_amount", n.EffectiveEscrow,
		"rounds_completed", n.CurrentRound, "timestamp", e.now())
	e.refund(i.Negotiation, n, toBuyer, reason, to)
	return nil
}
