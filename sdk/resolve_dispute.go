package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Ruling is an arbiter's decision on a disputed milestone.
type Ruling struct {
	// SellerBps is the seller's part of the tranche, 0 to 10,000 basis points, rounded down; the buyer gets
	// the rest.
	SellerBps uint16
	// ForfeitBond pays the seller's bond to the buyer, at once.
	ForfeitBond bool
}

// ResolveDispute divides the tranche of a disputed milestone between seller and buyer. The negotiation's
// arbiter signs. The last decided milestone settles the negotiation: the seller gets its bond back, except
// the share that the buyer got back of the price, unless it is forfeited. index is the milestone, from 0.
//
// The program answers [protocol.ErrInvalidParams] for a milestone that does not exist or more than 10,000
// basis points, [protocol.ErrInvalidState] for one that is not disputed and for a bond that is not held,
// [protocol.ErrExpired] from [protocol.Negotiation.ArbitrationDeadline] on, [protocol.ErrUnauthorized], or
// [protocol.ErrStaleState] on another deal.
func (n *Negotiation) ResolveDispute(arbiter solana.PublicKey, index uint8, ruling Ruling) *Action {
	return n.actionBy(arbiter, &resolveDispute{arbiter: arbiter, index: index, ruling: ruling})
}

type resolveDispute struct {
	arbiter solana.PublicKey
	index   uint8
	ruling  Ruling
}

func (*resolveDispute) name() string { return (*protocol.ResolveDispute)(nil).InstructionName() }

func (d *resolveDispute) build(ctx context.Context, a *Action) (*builtAct, error) {
	n := a.snapshot
	to, err := a.payouts(ctx, payoutRequest{payer: d.arbiter})
	if err != nil {
		return nil, err
	}
	return &builtAct{payer: d.arbiter, preparation: to.before, instruction: &protocol.ResolveDispute{
		Arbiter:            d.arbiter,
		Negotiation:        n.Address,
		BuyerTokenAccount:  to.buyer,
		SellerTokenAccount: to.seller,
		TokenMint:          n.TokenMint,
		TokenProgram:       to.mint.TokenProgram,
		CreatedAt:          n.CreatedAt,
		Index:              d.index,
		SellerBps:          d.ruling.SellerBps,
		ForfeitBond:        d.ruling.ForfeitBond,
	}}, nil
}

func (d *resolveDispute) precondition(n *Snapshot) precondition { return withMilestone(n, d.index) }

// An agreement also decides a disputed milestone, and no account shows with which split.
func (*resolveDispute) postcondition(_, _ *Snapshot) bool { return false }
