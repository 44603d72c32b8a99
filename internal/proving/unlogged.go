package proving

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// addUnlogged adds the moves of a transaction whose logs may lack events, from its instructions: otherwise a
// party could hide a move behind long logs. It returns ErrNoHistory if the instructions do not show the
// moves.
func addUnlogged(
	ctx context.Context, client *haggle.Client, courses []*course, negotiation solana.PublicKey,
	signature solana.Signature,
) error {
	called, at, complete, err := calls(ctx, client, signature)
	if errors.Is(err, rpc.ErrNotFound) {
		return fmt.Errorf("%w %s: transaction %s: %w", ErrNoHistory, negotiation, signature, err)
	}
	if err != nil {
		return err
	}
	for _, item := range called {
		complete = complete && addCall(courses, negotiation, signature, at, item)
	}
	if !complete {
		return fmt.Errorf("%w %s: transaction %s has incomplete logs", ErrNoHistory, negotiation, signature)
	}
	return nil
}

// addCall adds the move of an instruction unless it is known. It returns false if the move cannot be known. At is the
// time of its block, which is the program's clock; nil if it is unknown.
func addCall(
	courses []*course, negotiation solana.PublicKey, signature solana.Signature, at *int64, item protocol.AnyInstruction,
) bool {
	// The address can have several negotiations.
	createdAt := func(seconds int64) *course {
		for _, c := range courses {
			if c.terms.CreatedAt == seconds {
				return c
			}
		}
		return nil
	}
	switch i := item.(type) {
	case *protocol.CreateNegotiation:
		// The instruction has neither the time nor the fee.
		return i.Negotiation != negotiation ||
			len(courses) > 0 && courses[len(courses)-1].created == signature
	case *protocol.SubmitOffer:
		if i.Negotiation == negotiation {
			c := createdAt(i.CreatedAt)
			if c == nil || at == nil && int(i.ExpectedRound) == len(c.offers) {
				return false
			}
			offer := proof.Offer{Amount: i.Amount}
			if at != nil {
				offer.At = *at
			}
			return c.offer(int(i.ExpectedRound), offer, signature)
		}
	case *protocol.AcceptOffer:
		if i.Negotiation == negotiation {
			c := createdAt(i.CreatedAt)
			if c == nil || int(i.ExpectedRound) != len(c.offers) {
				return false
			}
			c.accepted()
		}
	case *protocol.RejectNegotiation:
		if i.Negotiation == negotiation {
			c := createdAt(i.CreatedAt)
			if c == nil || int(i.ExpectedRound) != len(c.offers) {
				return false
			}
			c.rejected(i.Rejector)
		}
	case *protocol.ExpireNegotiation:
		if i.Negotiation == negotiation {
			if len(courses) == 0 || courses[len(courses)-1].created == signature {
				return false
			}
			courses[len(courses)-1].last = &proof.Last{Move: "expire"}
		}
	case *protocol.RevealZopaPrice:
		// It can end the negotiation.
		return i.Negotiation != negotiation
	}
	return true
}
