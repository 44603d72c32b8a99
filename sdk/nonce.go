package haggle

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/send"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// getNonce reads a nonce account, and returns the slot of the response. It fails with an
// [*protocol.AccountError] that wraps [protocol.ErrAccountNotFound], [protocol.ErrWrongOwner] or
// [transaction.ErrNotANonce].
func (c *Client) getNonce(ctx context.Context, address solana.PublicKey) (*send.Nonce, uint64, error) {
	account, slot, err := c.accountOf(ctx, address, solana.SystemProgramID)
	if err != nil {
		return nil, 0, err
	}
	nonce, err := send.DecodeNonce(address, account.Data.GetBinary())
	if err != nil {
		return nil, 0, &protocol.AccountError{Address: address, Err: err}
	}
	return nonce, slot, nil
}

// useNonce makes the transaction use the nonce account of the action's options.
func (a *Action) useNonce(ctx context.Context, inputs *txInputs) error {
	nonce, slot, err := a.client.getNonce(ctx, a.options.nonce)
	if err != nil {
		return fmt.Errorf("nonce: %w", err)
	}
	inputs.first = nonce.Advance()
	inputs.blockhash = nonce.Value
	inputs.valid = send.Validity{Blockhash: nonce.Value, Nonce: nonce.Address, Since: slot}
	return nil
}
