package token

import (
	"errors"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// ErrCPIGuard: the deposit's token account has the CPI guard on, so the deposit is refused. The owner can
// turn the guard off, or deposit from another account.
var ErrCPIGuard = errors.New("haggle: the account's CPI guard is on, so nothing can be deposited from it")

// InsufficientFunds reports a token account that holds less than the required amount.
type InsufficientFunds struct {
	// Account is the token account, and Mint the account's mint.
	Account, Mint solana.PublicKey
	// Have and Need are measured in the mint's base units.
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
