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

// addUnlogged adds moves from the instructions of a transaction whose logs may lack events: otherwise a party
// could hide a move behind long logs. It returns ErrNoHistory if the instructions do not show the moves.
func addUnlogged(
	ctx context.Context, client *haggle.Client, courses []*course, negotiation solana.PublicKey,
	signature solana.Signature,
) error {
	called, complete, err := calls(ctx, client, signature)
	if errors.Is(err, rpc.ErrNotFound) {
		return fmt.Errorf("%w %s: transaction %s: %w", ErrNoHistory, negotiation, signature, err)
	}
	if err != nil {
		return err
	}
	for _, item := range called {
		complete = complete && addCall(courses, negotiation, signature, item)
	}
	if !complete {
		return fmt.Errorf("%w %s: transaction %s has incomplete logs", ErrNoHistory, negotiation, signature)
	}
	return nil
}

// addCall adds an instruction's move unless it is known, and returns false if it cannot be known.
func addCall(
	courses []*course, negotiation solana.PublicKey, signature solana.Signature, item protocol.AnyInstruction,
) bool {
	// Several negotiations may have used this address.
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
			return c != nil && c.offer(int(i.ExpectedRound), i.Amount, signature)
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
		// Such an instruction can terminate the negotiation.
		return i.Negotiation != negotiation
	}
	return true
}
