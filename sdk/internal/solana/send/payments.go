package send

import (
	"slices"
	"strconv"

	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// PaymentsOf returns the token accounts that hold more after a transaction than before. Balances that cannot
// be read are left out.
func PaymentsOf(details *rpc.GetTransactionResult) []transaction.Payment {
	tx, err := details.Transaction.GetTransaction()
	if err != nil {
		return nil
	}
	loaded := details.Meta.LoadedAddresses
	keys := slices.Concat(tx.Message.AccountKeys, loaded.Writable, loaded.ReadOnly)
	before := make(map[uint16]uint64, len(details.Meta.PreTokenBalances))
	for _, balance := range details.Meta.PreTokenBalances {
		before[balance.AccountIndex], _ = tokensOf(balance)
	}
	var payments []transaction.Payment
	for _, balance := range details.Meta.PostTokenBalances {
		amount, ok := tokensOf(balance)
		if !ok || int(balance.AccountIndex) >= len(keys) || amount <= before[balance.AccountIndex] {
			continue
		}
		payment := transaction.Payment{Account: keys[balance.AccountIndex], Mint: balance.Mint,
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
