package identity

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
)

// Admit returns the gate as an agent.Config.Admit for the agent with the given address: it checks the
// counterparty. If the gate refuses the counterparty, the returned error is agent.ErrRefused and a *Refusal.
// If the source has failed, the error is neither, so that the agent checks again later; meanwhile it leaves
// the negotiation alone.
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
			return fmt.Errorf("haggle: identity: %s: trust score unavailable: %w", other, refusal.Cause)
		}
		return fmt.Errorf("%w: %w", agent.ErrRefused, err)
	}
}
