package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ResolveDispute divides the tranche of a disputed milestone between seller and buyer. The negotiation's
// arbiter signs. The last decided milestone settles the negotiation: the seller gets its bond back, except
// the share that the buyer got back of the price. index is the milestone, from 0. sellerBps is the seller's
// part of the tranche, 0 to 10,000 basis points, rounded down.
//
// The program answers [protocol.ErrInvalidParams] for a milestone that does not exist or more than 10,000
// basis points, [protocol.ErrInvalidState] for one that is not disputed, [protocol.ErrExpired] from
// [protocol.Negotiation.ArbitrationDeadline] on, [protocol.ErrUnauthorized], or [protocol.ErrStaleState] on
// another deal.
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
