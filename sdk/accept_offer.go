package haggle

import (
	"context"
	"errors"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// AcceptOffer accepts the counterparty's offer, or the midpoint of revealed prices, which either side may
// accept: see [protocol.Negotiation.CanAccept]. The acceptor signs. The seller gets the price less the fee,
// the buyer the rest of the effective escrow, and a bond goes back to the seller. With milestones the buyer
// alone is paid, and the price stays in escrow for them.
//
// price is the offer to accept, in the mint's base units; if the current offer differs, the action fails with
// [ErrNotAsExpected]. If zero, the snapshot's offer is used with [Client.At]; otherwise zero is an error.
//
// The program returns [protocol.ErrInvalidState] if no offer stands, [protocol.ErrNoZopa] if the revealed
// prices do not overlap, [protocol.ErrExpired], [protocol.ErrResponseWindowExpired],
// [protocol.ErrUnauthorized], [protocol.ErrStaleState] for a different deal, round, price or metadata, or
// [protocol.ErrNotYourTurn] for the party that made the offer.
func (n *Negotiation) AcceptOffer(acceptor solana.PublicKey, price uint64) *Action {
	action := n.actionBy(acceptor,
		&acceptOffer{protocol.AcceptOffer{Acceptor: acceptor, ExpectedAmount: price}})
	if price == 0 && n.snapshot == nil && action.err == nil {
		action.err = errors.New("haggle: accept_offer: snapshot or price not set")
	}
	return action
}

type acceptOffer struct{ protocol.AcceptOffer }

func (o acceptOffer) build(ctx context.Context, a *Action) (*builtInstruction, error) {
	n := a.snapshot
	if price := o.ExpectedAmount; price != 0 && price != n.CurrentOfferAmount {
		return nil, amount.Errorf(n.TokenMint, "%w: the offer is %v", ErrNotAsExpected,
			amount.Units(n.CurrentOfferAmount))
	}
	to, err := a.payouts(ctx, payoutRequest{payer: o.Acceptor})
	if err != nil {
		return nil, err
	}
	o.On(a.Negotiation, &n.Negotiation)
	o.BuyerTokenAccount, o.SellerTokenAccount, o.TokenProgram = to.buyer, to.seller, to.mint.TokenProgram
	return &builtInstruction{payer: o.Acceptor, preparation: to.before, instruction: &o.AcceptOffer}, nil
}

func (acceptOffer) postcondition(before, now *Snapshot) bool {
	return hasAgreed(now, before.CurrentRound, before.CurrentOfferAmount)
}

// hasAgreed reports whether the parties agreed on the round's offer.
func hasAgreed(now *Snapshot, round uint8, price uint64) bool {
	agreed := now.IsAgreed() || now.Status == protocol.NegotiationStatusSettled
	return agreed && now.CurrentRound == round && now.SettledAmount == price
}
