package haggle

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go"
)

// seen is the state that an action is built on: the one that the caller has seen, otherwise the one that the chain has now.
func (c *Client) seen(ctx context.Context, account *NegotiationAccount, address solana.PublicKey) (*NegotiationAccount, error) {
	if account == nil {
		if address.IsZero() {
			return nil, fmt.Errorf("haggle: neither Seen nor Negotiation is given")
		}
		return c.GetNegotiation(ctx, address)
	}
	if !address.IsZero() && address != account.Address {
		return nil, fmt.Errorf("%w: Seen is %s and Negotiation is %s", ErrNotAsExpected, account.Address, address)
	}
	return account, nil
}
