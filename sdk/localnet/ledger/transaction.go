package ledger

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/localnet/engine"
)

// Transaction is an executed transaction. The caller must not modify it.
type Transaction struct {
	Signature solana.Signature
	Slot      uint64
	// Index is the position in the block.
	Index int
	// Time is the block's Unix time in seconds.
	Time    int64
	Wire    []byte
	Decoded *solana.Transaction
	// Keys lists the accounts: the message's own, then those of lookup tables, writable ones first.
	Keys []solana.PublicKey
	// LoadedWritable and LoadedReadonly list the lookup table accounts.
	LoadedWritable, LoadedReadonly []solana.PublicKey
	// LoadedBytes is the size of the loaded accounts, as the runtime limits it.
	LoadedBytes   uint32
	Result        *engine.Result
	Before, After Balances
}

// Balances holds account balances in a transaction.
type Balances struct {
	// Lamports follows Transaction.Keys order.
	Lamports []uint64
	Tokens   []TokenBalance
}

// TokenBalance is a token account balance.
type TokenBalance struct {
	// Account is an index of Transaction.Keys.
	Account              int
	Mint, Owner, Program solana.PublicKey
	// Amount is measured in the mint's base units.
	Amount   uint64
	Decimals byte
}

// unique returns the transaction's accounts without repetition.
func (t *Transaction) unique() []solana.PublicKey {
	seen := make(map[solana.PublicKey]struct{}, len(t.Keys))
	keys := make([]solana.PublicKey, 0, len(t.Keys))
	for _, key := range t.Keys {
		if _, repeated := seen[key]; !repeated {
			seen[key] = struct{}{}
			keys = append(keys, key)
		}
	}
	return keys
}

// DecodeError is a transaction whose bytes are not valid.
type DecodeError struct{ Reason string }

// Error implements error.
func (e *DecodeError) Error() string { return "transaction: " + e.Reason }

// SanitizeError reports indexes or counts that do not match the transaction's accounts.
type SanitizeError struct{ Reason string }

// Error implements error.
func (e *SanitizeError) Error() string { return "transaction: " + e.Reason }

// ErrSignature is returned for a transaction with a missing or wrong signature.
var ErrSignature = errors.New("transaction: signature verification failed")

// TransactionError reports a transaction excluded from all blocks, with the error as encoded by nodes in
// JSON.
type TransactionError struct {
	Err  json.RawMessage
	Logs []string
}

// Error implements error.
func (e *TransactionError) Error() string { return "transaction refused: " + string(e.Err) }

func refused(name string) *TransactionError {
	return &TransactionError{Err: json.RawMessage(`"` + name + `"`)}
}

// decode returns a structurally valid transaction: all indexes are in range. It also returns the
// transaction's own bytes: like nodes, it ignores trailing bytes.
func decode(wire []byte) (*solana.Transaction, []byte, error) {
	if len(wire) > engine.MaxTransactionBytes {
		return nil, nil, &DecodeError{fmt.Sprintf("%d bytes exceed %d", len(wire), engine.MaxTransactionBytes)}
	}
	transaction, wire, err := parse(wire)
	if err != nil {
		return nil, nil, &DecodeError{err.Error()}
	}
	message := &transaction.Message
	header := message.Header
	signers := int(header.NumRequiredSignatures)
	switch {
	case signers == 0 || len(transaction.Signatures) != signers || signers > len(message.AccountKeys):
		return nil, nil, &SanitizeError{"wrong number of signatures"}
	case int(header.NumReadonlySignedAccounts) >= signers,
		signers+int(header.NumReadonlyUnsignedAccounts) > len(message.AccountKeys):
		return nil, nil, &SanitizeError{"header does not match the accounts"}
	}
	accounts := len(message.AccountKeys)
	for _, table := range message.AddressTableLookups {
		accounts += len(table.WritableIndexes) + len(table.ReadonlyIndexes)
	}
	for _, instruction := range message.Instructions {
		if int(instruction.ProgramIDIndex) >= len(message.AccountKeys) {
			return nil, nil, &SanitizeError{"program index out of range"}
		}
		for _, index := range instruction.Accounts {
			if int(index) >= accounts {
				return nil, nil, &SanitizeError{"account index out of range"}
			}
		}
	}
	return transaction, wire, nil
}

// parse accepts only canonical encodings: otherwise signatures could be verified over different bytes than
// the engine decodes. The library's decoder can panic at malformed input.
func parse(wire []byte) (transaction *solana.Transaction, encoded []byte, err error) {
	defer func() {
		if recovered := recover(); recovered != nil {
			err = fmt.Errorf("malformed: %v", recovered)
		}
	}()
	if transaction, err = solana.TransactionFromBytes(wire); err != nil {
		return nil, nil, err
	}
	if encoded, err = transaction.MarshalBinary(); err != nil {
		return nil, nil, err
	}
	if !bytes.HasPrefix(wire, encoded) {
		return nil, nil, errors.New("not encoded canonically")
	}
	return transaction, encoded, nil
}

func verify(transaction *solana.Transaction) error {
	message, err := transaction.Message.MarshalBinary()
	if err != nil {
		return &DecodeError{err.Error()}
	}
	for i, signature := range transaction.Signatures {
		if !ed25519.Verify(transaction.Message.AccountKeys[i][:], message, signature[:]) {
			return ErrSignature
		}
	}
	return nil
}
