package send

import (
	"context"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
)

// Accounts reads accounts, all at the same slot, which it returns. A missing account is nil, and so is an
// account without lamports and data, because some nodes return closed accounts in this form.
func Accounts(
	ctx context.Context, node *rpc.Client, options *rpc.GetMultipleAccountsOpts,
	addresses ...solana.PublicKey,
) ([]*rpc.Account, uint64, error) {
	answer, err := node.GetMultipleAccountsWithOpts(ctx, addresses, options)
	if err != nil {
		return nil, 0, err
	}
	if len(answer.Value) != len(addresses) {
		return nil, 0, rpcpool.Malformed("node returned %d accounts instead of %d", len(answer.Value), len(addresses))
	}
	for i, account := range answer.Value {
		if account == nil {
			continue
		}
		if account.Data == nil {
			return nil, 0, rpcpool.Malformed("node returned an account without data: %s", addresses[i])
		}
		if account.Lamports == 0 && len(account.Data.GetBinary()) == 0 {
			answer.Value[i] = nil
		}
	}
	return answer.Value, answer.Context.Slot, nil
}
