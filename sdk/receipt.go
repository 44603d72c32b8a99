package haggle

import (
	"strconv"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Receipt is the result of a confirmed transaction.
type Receipt struct {
	Signature solana.Signature
	// Slot is the slot in which the transaction was executed.
	Slot uint64
	// Logs are the transaction's logs.
	Logs []string
	// Events are the program's events, in their order.
	Events []protocol.Event
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
	// Elapsed is the machine's time from the first broadcast to the confirmation, or for Client.Outcome until
	// the client received the confirmation.
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

// paymentsOf returns the token accounts that hold more after a transaction than before. Balances that cannot
// be read are left out.
func paymentsOf(details *rpc.GetTransactionResult) []Payment {
	tx, err := details.Transaction.GetTransaction()
	if err != nil {
		return nil
	}
	loaded := details.Meta.LoadedAddresses
	keys := append(append(append(solana.PublicKeySlice{}, tx.Message.AccountKeys...),
		loaded.Writable...), loaded.ReadOnly...)
	before := make(map[uint16]uint64, len(details.Meta.PreTokenBalances))
	for _, balance := range details.Meta.PreTokenBalances {
		before[balance.AccountIndex], _ = tokensOf(balance)
	}
	var payments []Payment
	for _, balance := range details.Meta.PostTokenBalances {
		amount, ok := tokensOf(balance)
		if !ok || int(balance.AccountIndex) >= len(keys) || amount <= before[balance.AccountIndex] {
			continue
		}
		payment := Payment{Account: keys[balance.AccountIndex], Mint: balance.Mint,
			Amount: amount - before[balance.AccountIndex]}
		if balance.Owner != nil {
			payment.Owner = *balance.Owner
		}
		payments = append(payments, payment)
	}
	return payments
}

func tokensOf(balance rpc.TokenBalance) (amount uint64, ok bool) {
	if balance.UiTokenAmount == nil {
		return 0, false
	}
	amount, err := strconv.ParseUint(balance.UiTokenAmount.Amount, 10, 64)
	return amount, err == nil
}
