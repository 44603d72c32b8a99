package send

import (
	"encoding/binary"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// A nonce account: version, state, authority, value, and the fee per signature when the value was set.
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

// Nonce is a nonce account.
type Nonce struct {
	// Address is the account's.
	Address solana.PublicKey
	// Authority must sign each transaction that uses or changes the nonce.
	Authority solana.PublicKey
	// Value replaces the recent blockhash in a transaction.
	Value solana.Hash
}

// DecodeNonce decodes the data of an account of the system program. It fails with [transaction.ErrNotANonce].
func DecodeNonce(address solana.PublicKey, data []byte) (*Nonce, error) {
	if len(data) != nonceSize || binary.LittleEndian.Uint32(data) != nonceVersion ||
		binary.LittleEndian.Uint32(data[nonceOffsetState:]) != nonceInitialized {
		return nil, transaction.ErrNotANonce
	}
	return &Nonce{
		Address:   address,
		Authority: solana.PublicKey(data[nonceOffsetAuthority:nonceOffsetValue]),
		Value:     solana.Hash(data[nonceOffsetValue : nonceOffsetValue+32]),
	}, nil
}

// Advance returns the first instruction for transactions that use the nonce.
func (n *Nonce) Advance() solana.Instruction {
	return system.NewAdvanceNonceAccountInstruction(n.Address, solana.SysVarRecentBlockHashesPubkey,
		n.Authority).Build()
}

// holdsNonce reports whether an account is a nonce account with a value.
func holdsNonce(account *rpc.Account, value solana.Hash) bool {
	if account == nil || account.Owner != solana.SystemProgramID {
		return false
	}
	data := account.Data.GetBinary()
	return len(data) == nonceSize && solana.Hash(data[nonceOffsetValue:nonceOffsetValue+32]) == value
}
