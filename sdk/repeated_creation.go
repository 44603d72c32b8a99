package haggle

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

var errOtherTerms = fmt.Errorf("%w: the negotiation with this key was created on other terms", ErrNotAsExpected)

// CheckRepetition compares a request with the negotiation that an earlier creation with its key made: the one of
// [*AlreadyDone] or [*SessionUsedError]. It returns [ErrNotAsExpected] if the parties, the key or the terms are others,
// except the deadlines, which begin with a creation, and the fee. The metadata is compared only after the negotiation
// is closed, because offers replace it. Other errors are those of [Negotiation.Snapshot] and [Client.History].
func (c *Client) CheckRepetition(ctx context.Context, request CreateRequest, negotiation solana.PublicKey) error {
	wanted := createNegotiation{CreateNegotiation: &protocol.CreateNegotiation{
		Buyer: request.Buyer, Seller: request.Seller, TokenMint: request.Mint, SessionID: SessionIDFor(request.Key),
		Params: request.params(0, 0),
	}}
	created, err := c.snapshot(ctx, negotiation)
	if errors.Is(err, protocol.ErrAccountNotFound) {
		if created, err = c.created(ctx, negotiation); err == nil && created.Metadata != request.Metadata {
			err = fmt.Errorf("%w: %s", errOtherTerms, negotiation)
		}
	}
	if err == nil && !wanted.postcondition(nil, created) {
		err = fmt.Errorf("%w: %s", errOtherTerms, negotiation)
	}
	return err
}

// created returns a closed negotiation as it was created last.
func (c *Client) created(ctx context.Context, negotiation solana.PublicKey) (*Snapshot, error) {
	var found *Snapshot
	for envelope, err := range c.History(ctx, negotiation) {
		if err != nil {
			return nil, err
		}
		e, is := envelope.Event.(*protocol.NegotiationCreated)
		if !is || e.NegotiationID != negotiation {
			continue
		}
		found = &Snapshot{Address: negotiation, Negotiation: protocol.Negotiation{
			Buyer: e.Buyer, Seller: e.Seller, SessionID: e.SessionID, TokenMint: e.TokenMint,
			EscrowAmount: e.EscrowAmount, ServiceHash: e.ServiceHash, MaxRounds: e.MaxRounds,
			DecayRateBps: e.DecayRateBps, ResponseWindow: e.ResponseWindow, MinOfferBps: e.MinOfferBps,
			ZopaEnabled: e.ZopaEnabled, BondRequired: e.BondRequired, Arbiter: e.Arbiter, MilestoneBps: e.MilestoneBps,
			ReviewHours: e.ReviewHours, Metadata: e.Metadata,
		}}
	}
	if found == nil {
		return nil, fmt.Errorf("%w: %s: the node does not return its creation", protocol.ErrAccountNotFound, negotiation)
	}
	return found, nil
}
