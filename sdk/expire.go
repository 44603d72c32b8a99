package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Expire ends a negotiation whose deadline or response window passed: the buyer gets the escrow back, less
// the decay of the rounds so far, and the seller the bond, less the seller's part of the decay, which goes to
// the buyer: see [protocol.Negotiation.BondAfterExpiry]. A seller that did not reveal the price in time
// forfeits the bond to the buyer. Anyone may sign as payer.
//
// The program returns [protocol.ErrInvalidState] once the negotiation is over, and as long as a party may
// still act: see [protocol.Negotiation.IsOverdue].
func (n *Negotiation) Expire(payer solana.PublicKey) *Action {
	return n.actionBy(payer, &expire{payer: payer})
}

type expire struct {
	protocol.ExpireNegotiation
	payer solana.PublicKey
}

func (e expire) build(ctx context.Context, a *Action) (*builtInstruction, error) {
	n := a.snapshot
	to, err := a.payouts(ctx, payoutRequest{
		payer: e.payer, withoutSeller: n.BondRequired == 0,
		unpaidSeller: n.BondAfterExpiry() == n.HeldBond(),
	})
	if err != nil {
		return nil, err
	}
	e.On(a.Negotiation, &n.Negotiation)
	e.BuyerTokenAccount, e.SellerTokenAccount, e.TokenProgram = to.buyer, to.seller, to.mint.TokenProgram
	return &builtInstruction{payer: e.payer, preparation: to.before, instruction: &e.ExpireNegotiation}, nil
}

func (expire) postcondition(_, now *Snapshot) bool {
	return now.Status == protocol.NegotiationStatusExpired
}
