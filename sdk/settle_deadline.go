package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// SettleDeadline decides all undecided milestones after their deadline: a milestone under review is paid,
// disputed milestones are split in half, unclaimed milestones go back to the buyer. It settles the
// negotiation: the seller recovers the bond, except the share of the price that goes back to the buyer for
// unclaimed milestones or that the arbiter gave to the buyer. Anyone may sign as payer.
//
// The program returns [protocol.ErrInvalidState] before [protocol.Negotiation.SettleDueAt], or if no
// milestones are under way.
func (n *Negotiation) SettleDeadline(payer solana.PublicKey) *Action {
	return n.actionBy(payer, &settleDeadline{payer: payer})
}

type settleDeadline struct {
	protocol.SettleDeadline
	payer solana.PublicKey
}

func (d settleDeadline) build(ctx context.Context, a *Action) (*builtInstruction, error) {
	to, err := a.payouts(ctx, payoutRequest{payer: d.payer})
	if err != nil {
		return nil, err
	}
	d.On(a.Negotiation, &a.snapshot.Negotiation)
	d.BuyerTokenAccount, d.SellerTokenAccount, d.TokenProgram = to.buyer, to.seller, to.mint.TokenProgram
	return &builtInstruction{payer: d.payer, preparation: to.before, instruction: &d.SettleDeadline}, nil
}

func (settleDeadline) postcondition(_, now *Snapshot) bool {
	return now.Status == protocol.NegotiationStatusSettled
}
