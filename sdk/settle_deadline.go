package haggle

import (
	"context"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// SettleDeadline decides all undecided milestones after their deadline: one under review is paid, disputed
// ones are split in half, unclaimed ones go back to the buyer. It settles the negotiation: the seller gets
// its bond back, except the share of the price that goes back to the buyer for unclaimed milestones or that
// the arbiter gave to the buyer. Anyone may sign as payer.
//
// The program answers [protocol.ErrInvalidState] before [protocol.Negotiation.SettleDueAt] and without
// milestones under way.
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
