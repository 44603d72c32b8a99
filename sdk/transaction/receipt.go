package transaction

import (
	"time"

	"github.com/gagliardetto/solana-go"
)

// Receipt describes a confirmed transaction.
type Receipt struct {
	Signature solana.Signature
	// Slot is the slot that includes the transaction.
	Slot uint64
	// Logs contains the transaction's logs.
	Logs []string
	// Payments lists the token accounts that hold more than before, in transaction order: for a settlement
	// the paid accounts, for a creation the vault. Accounts closed by the same transaction are not included.
	Payments []Payment
	// ComputeUnits counts the units consumed by the whole transaction.
	ComputeUnits uint64
	// Fee is the paid fee, in lamports.
	Fee uint64
	// BlockTime is the block's time in Unix seconds; zero if the node does not know it.
	BlockTime int64
	// Elapsed is the machine's time from the first broadcast to the confirmation, or for a transaction sent
	// earlier until the client received the confirmation.
	Elapsed time.Duration
}

// Payment is the amount received by a token account in a transaction.
type Payment struct {
	// Account is the token account, and Owner the wallet that can spend from it.
	Account, Owner solana.PublicKey
	// Mint identifies the tokens.
	Mint solana.PublicKey
	// Amount is in base units of the mint.
	Amount uint64
}

// BalanceChange describes how an account's balance changes.
type BalanceChange struct {
	// Account is the account's address.
	Account solana.PublicKey
	// LamportsBefore and LamportsAfter are zero for an account that does not exist.
	LamportsBefore, LamportsAfter uint64
	// Tokens describes the change in tokens; nil for other accounts.
	Tokens *TokenChange
}

// Lamports returns the number of lamports that the account would gain, negative if it would lose lamports.
func (b *BalanceChange) Lamports() int64 { return int64(b.LamportsAfter) - int64(b.LamportsBefore) }

// TokenChange describes how a token account's balance changes.
type TokenChange struct {
	// Mint and Owner are the token account's.
	Mint, Owner solana.PublicKey
	// Before and After are in base units of the mint.
	Before, After uint64
}
