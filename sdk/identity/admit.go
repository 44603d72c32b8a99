package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
)

// Admit makes the gate an agent.Config.Admit of the agent with this address: it is asked about whoever the other party is. A
// counterparty that the gate refuses is agent.ErrRefused and a *Refusal. One of whom nobody can say how much it is trusted, because the
// source has failed, is an error that is neither, so that the agent asks again later; until then the negotiation is left alone.
func (g *Gate) Admit(self solana.PublicKey) func(ctx context.Context, seen *haggle.Snapshot) error {
	return func(ctx context.Context, seen *haggle.Snapshot) error {
		other := seen.Seller
		if self == seen.Seller {
			other = seen.Buyer
		}
		err := g.Check(ctx, other)
		var refusal *Refusal
		switch {
		case err == nil:
			return nil
		case errors.As(err, &refusal) && refusal.Cause != nil:
			return fmt.Errorf("haggle: identity: %s: nobody says how much it is trusted: %w", other, refusal.Cause)
		}
		return fmt.Errorf("%w: %w", agent.ErrRefused, err)
	}
}
