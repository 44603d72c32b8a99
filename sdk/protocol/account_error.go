package protocol

import (
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

var (
	// ErrAccountNotFound: the account does not exist, or was closed.
	ErrAccountNotFound = errors.New("haggle: account not found")
	// ErrWrongOwner: the account belongs to another program.
	ErrWrongOwner = errors.New("haggle: account owned by another program")
)

// AccountError reports an account that was read but is unusable.
type AccountError struct {
	// Address is the account's address.
	Address solana.PublicKey
	// Err is [ErrAccountNotFound], [ErrWrongOwner], or a [*DecodeError].
	Err error
}

func (e *AccountError) Error() string { return fmt.Sprintf("%v: %s", e.Err, e.Address) }

// Unwrap returns the reason.
func (e *AccountError) Unwrap() error { return e.Err }

// TransactionOutcome returns [transaction.NotSent]: accounts are read before a transaction is built.
func (e *AccountError) TransactionOutcome() transaction.Outcome { return transaction.NotSent }

// WrongSize returns a [*DecodeError] for account data with the wrong length for the type.
func WrongSize(name string, got, want int) error {
	return &DecodeError{Type: name, Reason: ErrWrongLength, Detail: fmt.Sprintf("%d bytes instead of %d", got, want)}
}
