package haggle

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/optional"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Split is a division of the undecided part of the price and the bond that both parties agree on.
type Split struct {
	// SellerBps is the seller's share of the undecided part of the price, 0 to 10,000 basis points, rounded
	// down. The protocol's fee is taken from this share. The buyer receives the rest.
	SellerBps uint16
	// BondToBuyerBps is the buyer's share of a held bond, 0 to 10,000 basis points, rounded down. If no bond
	// is held, it is 0.
	BondToBuyerBps uint16
	// ValidFor is how long the agreement is valid, from the chain's present, rounded up to seconds. If zero,
	// one hour is used. It also bounds a transaction with a durable nonce, which does not expire by itself.
	ValidFor time.Duration
}

// defaultAgreementValidity is how long an agreement is valid if the split does not state a time.
const defaultAgreementValidity = time.Hour

// SettleByAgreement divides the undecided part of the price and the bond as both parties agree, and settles
// the negotiation. payer pays the transaction's fee; if it is zero, the buyer pays. Both parties sign: if one
// process holds both keys, [Action.Do] takes two signers, otherwise the first party signs
// [Action.Transaction] with [SignTransaction] and the second completes it. Unless a durable nonce is used
// ([WithNonce]), the transaction is valid for about a minute.
//
// The program returns [protocol.ErrInvalidParams] for a share above the whole, [protocol.ErrInvalidState] if
// no price is agreed on or if it must share a bond that is not held, [protocol.ErrExpired] after ValidFor,
// [protocol.ErrUnauthorized] for another pair of signers, or [protocol.ErrStaleState] if another milestone is
// decided by then.
func (n *Negotiation) SettleByAgreement(payer solana.PublicKey, split Split) *Action {
	return n.action(&settleByAgreement{protocol.SettleByAgreement{SellerBps: split.SellerBps,
		BondToBuyerBps: split.BondToBuyerBps}, payer, split.ValidFor})
}

type settleByAgreement struct {
	protocol.SettleByAgreement
	payer    solana.PublicKey
	validFor time.Duration
}

func (s settleByAgreement) build(ctx context.Context, a *Action) (*builtInstruction, error) {
	n := a.snapshot
	if s.validFor < 0 {
		return nil, errors.New("haggle: settle_by_agreement: ValidFor must not be negative")
	}
	now, err := a.client.Now(ctx)
	if err != nil {
		return nil, err
	}
	payer := cmp.Or(s.payer, n.Buyer)
	to, err := a.payouts(ctx, payoutRequest{payer: payer})
	if err != nil {
		return nil, err
	}
	s.On(a.Negotiation, &n.Negotiation)
	s.Buyer, s.Seller = n.Buyer, n.Seller
	s.BuyerTokenAccount, s.SellerTokenAccount, s.TokenProgram = to.buyer, to.seller, to.mint.TokenProgram
	s.ValidUntil = now + optional.Seconds(s.validFor, int64(defaultAgreementValidity/time.Second))
	return &builtInstruction{payer: payer, preparation: to.before, instruction: &s.SettleByAgreement}, nil
}

func (s settleByAgreement) postcondition(before, now *Snapshot) bool {
	if now.Status != protocol.NegotiationStatusSettled {
		return false
	}
	bond := before.BondState
	switch toBuyer := protocol.ShareOf(before.HeldBond(), s.BondToBuyerBps, 0); {
	case before.HeldBond() == 0:
	case toBuyer == 0:
		bond = protocol.BondStateReturned
	case toBuyer == before.HeldBond():
		bond = protocol.BondStateForfeited
	default:
		bond = protocol.BondStateSplit
	}
	return now.BondState == bond &&
		now.PaidGross == before.PaidGross+protocol.ShareOf(before.Undecided(), s.SellerBps, 0)
}
