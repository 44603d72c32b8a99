package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Reject ends the negotiation as either party, which signs: the buyer gets the escrow back, less the decay of
// the rounds so far, and the seller the bond, less the decay of the seller's offers, which goes to the buyer:
// see [protocol.Negotiation.BondAfterRejection]. A seller that rejects between the buyer's reveal and the
// buyer's first offer forfeits the bond to the buyer: see [protocol.Negotiation.RejectionForfeitsBond]. If
// the snapshot does not show the buyer's reveal, the program returns [protocol.ErrStaleState].
//
// The program returns [protocol.ErrInvalidState] once the negotiation is over, [protocol.ErrExpired],
// [protocol.ErrResponseWindowExpired], [protocol.ErrUnauthorized], or [protocol.ErrStaleState] for a
// different deal or round.
func (n *Negotiation) Reject(rejector solana.PublicKey) *Action {
	return n.actionBy(rejector, &reject{protocol.RejectNegotiation{Rejector: rejector}})
}

type reject struct{ protocol.RejectNegotiation }

func (r reject) build(ctx context.Context, a *Action) (*builtInstruction, error) {
	n := a.snapshot
	// A seller that omits the account agrees to forfeit the bond, so the program requires the account in
	// every other state, even before the deposit.
	forfeits := r.Rejector == n.Seller && n.RejectionForfeitsBond()
	side, _ := n.SideOf(r.Rejector)
	to, err := a.payouts(ctx, payoutRequest{
		payer: r.Rejector, withoutSeller: n.BondRequired == 0 || forfeits,
		unpaidSeller: n.BondAfterRejection(side) == n.HeldBond(),
	})
	if err != nil {
		return nil, err
	}
	r.On(a.Negotiation, &n.Negotiation)
	r.BuyerTokenAccount, r.SellerTokenAccount, r.TokenProgram = to.buyer, to.seller, to.mint.TokenProgram
	return &builtInstruction{payer: r.Rejector, preparation: to.before, instruction: &r.RejectNegotiation}, nil
}

func (reject) postcondition(before, now *Snapshot) bool {
	return now.Status == protocol.NegotiationStatusRejected && !now.EndedWithoutZone() &&
		now.CurrentRound == before.CurrentRound
}
