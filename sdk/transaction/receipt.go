package transaction

import (
	"time"

	"github.com/gagliardetto/solana-go"
)

// Receipt is the result of a confirmed transaction.
type Receipt struct {
	Signature solana.Signature
	// Slot is the slot in which the transaction was executed.
	Slot uint64
	// Logs are the transaction's logs.
	Logs []string
	// Payments are the token accounts that hold more than before, in the order in which the transaction names
	// them: for a settlement the paid accounts, for a creation the vault. An account that the same
	// transaction has closed is not included.
	Payments []Payment
	// ComputeUnits are the units that the whole transaction has consumed.
	ComputeUnits uint64
	// Fee is the fee that the payer has paid, in lamports.
	Fee uint64
	// BlockTime is the block's time in Unix seconds; zero if the node does not know it.
	BlockTime int64
	// Elapsed is the machine's time from the first broadcast to the confirmation, or for a transaction that
	// was sent before until the client received the confirmation.
	Elapsed time.Duration
}

// Payment is the amount that a token account has received by a transaction.
type Payment struct {
	// Account is the token account, and Owner the wallet that can spend from it.
	Account, Owner solana.PublicKey
	// Mint is the mint of the tokens.
	Mint solana.PublicKey
	// Amount is in base units of the mint.
	Amount uint64
}

// BalanceChange is the change of an account's balance.
type BalanceChange struct {
	// Account is the account's address.
	Account solana.PublicKey
	// LamportsBefore and LamportsAfter are zero for an account that does not exist.
	LamportsBefore, LamportsAfter uint64
	// Tokens is the change of its token balance; nil if it is not a token account.
	Tokens *TokenChange
}

// Lamports returns the number of lamports that the account would gain, negative if it would lose them.
func (b *BalanceChange) Lamports() int64 { return int64(b.LamportsAfter) - int64(b.LamportsBefore) }

// TokenChange is the change of a token account's balance.
type TokenChange struct {
	// Mint and Owner are the token account's.
	Mint, Owner solana.PublicKey
	// Before and After are in base units of the mint.
	Before, After uint64
}
