package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ResolveDispute divides a disputed milestone's tranche between seller and buyer. The negotiation's arbiter
// signs. The last decided milestone settles the negotiation: the seller recovers the bond, except the share
// of the price that went back to the buyer. index is the milestone, from 0. sellerBps is the seller's part of
// the tranche, 0 to 10,000 basis points, rounded down.
//
// The program returns [protocol.ErrInvalidParams] for an unknown milestone or more than 10,000 basis points,
// [protocol.ErrInvalidState] if the milestone is not disputed, [protocol.ErrExpired] from
// [protocol.Negotiation.ArbitrationDeadline] on, [protocol.ErrUnauthorized], or [protocol.ErrStaleState] for
// a different deal.
func (n *Negotiation) ResolveDispute(arbiter solana.PublicKey, index uint8, sellerBps uint16) *Action {
	return n.actionBy(arbiter, &resolveDispute{protocol.ResolveDispute{Arbiter: arbiter, Index: index,
		SellerBps: sellerBps}})
}

type resolveDispute struct{ protocol.ResolveDispute }

func (d resolveDispute) build(ctx context.Context, a *Action) (*builtInstruction, error) {
	to, err := a.payouts(ctx, payoutRequest{payer: d.Arbiter})
	if err != nil {
		return nil, err
	}
	d.On(a.Negotiation, &a.snapshot.Negotiation)
	d.BuyerTokenAccount, d.SellerTokenAccount, d.TokenProgram = to.buyer, to.seller, to.mint.TokenProgram
	return &builtInstruction{payer: d.Arbiter, preparation: to.before, instruction: &d.ResolveDispute}, nil
}

// An agreement also decides a disputed milestone, and no account shows with which split.
func (resolveDispute) postcondition(_, _ *Snapshot) bool { return false }
