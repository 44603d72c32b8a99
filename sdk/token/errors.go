package token

import (
	"errors"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// ErrCPIGuard: the CPI guard of the token account of a deposit is on, so the token program refuses the
// deposit. The owner can turn the guard off, or deposit from another account.
var ErrCPIGuard = errors.New("haggle: the account's CPI guard is on, so nothing can be deposited from it")

// InsufficientFunds is the error of a token account that holds less than the required amount.
type InsufficientFunds struct {
	// Account is the token account, and Mint its mint.
	Account, Mint solana.PublicKey
	// Have and Need are in base units of the mint.
	Have, Need uint64
}

func (e *InsufficientFunds) Error() string { return e.text().Error() }

// TextWith implements [amount.Error].
func (e *InsufficientFunds) TextWith(write amount.Formatter) string { return e.text().TextWith(write) }

func (e *InsufficientFunds) text() amount.Error {
	return amount.Errorf(e.Mint, "haggle: token account %s holds %v, but %v are needed", e.Account,
		amount.Units(e.Have), amount.Units(e.Need))
}

// TransactionOutcome returns [transaction.NotSent]: accounts are read before a transaction is built.
func (e *InsufficientFunds) TransactionOutcome() transaction.Outcome { return transaction.NotSent }
