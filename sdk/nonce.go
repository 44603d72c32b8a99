package haggle

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// A nonce account: version, state, authority, value, and the fee of a signature when the value was set.
// Numbers are little endian.
const (
	nonceSize            = 80
	nonceOffsetState     = 4
	nonceOffsetAuthority = 8
	nonceOffsetValue     = 40

	// nonceVersion is the version whose values cannot be mistaken for blockhashes.
	nonceVersion     = 1
	nonceInitialized = 1
)

// nonceAccount is a nonce account as the chain had it at a slot.
type nonceAccount struct {
	// address is the account's.
	address solana.PublicKey
	// authority must sign each transaction that uses or changes the nonce.
	authority solana.PublicKey
	// value takes the place of a recent blockhash in a transaction.
	value solana.Hash
	// slot is the slot at which the account was read.
	slot uint64
}

// getNonce reads a nonce account. It fails with an [*protocol.AccountError] that wraps
// [protocol.ErrAccountNotFound], [protocol.ErrWrongOwner] or [transaction.ErrNotANonce].
func (c *Client) getNonce(ctx context.Context, address solana.PublicKey) (*nonceAccount, error) {
	account, slot, err := c.accountOf(ctx, address, solana.SystemProgramID)
	if err != nil {
		return nil, err
	}
	data := account.Data.GetBinary()
	if len(data) != nonceSize || binary.LittleEndian.Uint32(data) != nonceVersion ||
		binary.LittleEndian.Uint32(data[nonceOffsetState:]) != nonceInitialized {
		return nil, &protocol.AccountError{Address: address, Err: transaction.ErrNotANonce}
	}
	return &nonceAccount{
		address:   address,
		authority: solana.PublicKey(data[nonceOffsetAuthority:nonceOffsetValue]),
		value:     solana.Hash(data[nonceOffsetValue : nonceOffsetValue+32]),
		slot:      slot,
	}, nil
}

func (n *nonceAccount) advance() solana.Instruction {
	return system.NewAdvanceNonceAccountInstruction(n.address, solana.SysVarRecentBlockHashesPubkey,
		n.authority).Build()
}

// holdsNonce reports whether an account is a nonce account with a value.
func holdsNonce(account *rpc.Account, value solana.Hash) bool {
	if account == nil || account.Owner != solana.SystemProgramID {
		return false
	}
	data := account.Data.GetBinary()
	return len(data) == nonceSize && solana.Hash(data[nonceOffsetValue:nonceOffsetValue+32]) == value
}

// useNonce makes the transaction use the nonce account of the action's options.
func (a *Action) useNonce(ctx context.Context, found *inputs) error {
	nonce, err := a.client.getNonce(ctx, a.options.nonce)
	if err != nil {
		return fmt.Errorf("nonce: %w", err)
	}
	found.first = nonce.advance()
	found.blockhash = nonce.value
	found.valid = validity{blockhash: nonce.value, nonce: nonce.address, since: nonce.slot}
	return nil
}

// nonceOf returns the nonce account of a transaction with a durable nonce.
func nonceOf(tx *solana.Transaction) (solana.PublicKey, error) {
	address, ok := tx.GetNonceAccount()
	if !ok {
		return solana.PublicKey{}, fmt.Errorf("%w: transaction names no nonce account", transaction.ErrNotANonce)
	}
	return address, nil
}
