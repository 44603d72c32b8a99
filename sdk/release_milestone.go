package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// ReleaseMilestone pays the tranche of a milestone under review to the seller, less the fee. The releaser
// signs: the buyer, or from the end of the review window on, anyone. The last decided milestone settles the
// negotiation: the seller recovers the bond, except the share of the price that went back to the buyer. index
// is the milestone, from 0.
//
// The program returns [protocol.ErrInvalidParams] for an unknown milestone, [protocol.ErrInvalidState] if the
// milestone is not under review, [protocol.ErrUnauthorized] for anyone but the buyer within the review
// window, or [protocol.ErrStaleState] for a different deal.
func (n *Negotiation) ReleaseMilestone(releaser solana.PublicKey, index uint8) *Action {
	return n.actionBy(releaser, &releaseMilestone{protocol.ReleaseMilestone{Releaser: releaser, Index: index}})
}

type releaseMilestone struct{ protocol.ReleaseMilestone }

func (m releaseMilestone) build(ctx context.Context, a *Action) (*builtInstruction, error) {
	n := a.snapshot
	// The buyer receives a part of the bond if this release settles the negotiation after a refund.
	to, err := a.payouts(ctx, payoutRequest{payer: m.Releaser, withoutBuyer: n.HeldBond() == 0})
	if err != nil {
		return nil, err
	}
	m.On(a.Negotiation, &n.Negotiation)
	m.BuyerTokenAccount, m.SellerTokenAccount, m.TokenProgram = to.buyer, to.seller, to.mint.TokenProgram
	return &builtInstruction{payer: m.Releaser, preparation: to.before, instruction: &m.ReleaseMilestone}, nil
}

// An agreement of the parties also decides a claimed milestone, with any split, so a settled negotiation is
// conclusive only if this milestone was the last one.
func (m releaseMilestone) postcondition(before, now *Snapshot) bool {
	bit := uint8(1) << m.Index
	if now.MilestonesDecided&bit == 0 || now.MilestonesClaimed&bit == 0 || now.MilestonesDisputed&bit != 0 {
		return false
	}
	return now.IsAgreed() || now.PaidGross == before.PaidGross+before.Undecided()
}
