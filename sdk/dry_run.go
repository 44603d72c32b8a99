package haggle

import (
	"context"
	"fmt"
	"math"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// DryRun contains an action's effects and costs if it were executed now.
type DryRun struct {
	// ComputeUnits is the consumption of the whole transaction, and ComputeLimit the limit to be requested.
	ComputeUnits uint64
	ComputeLimit uint32
	// Fee is the payer's total fee in lamports, PriorityFee included.
	Fee uint64
	// Rent is the rent of the accounts that the transaction creates, in lamports. Wrapped SOL in them is not
	// included.
	Rent uint64
	// PriorityFee is the part of the fee for being executed earlier, in lamports.
	PriorityFee uint64
	// Logs holds the transaction's logs, even if the transaction was refused.
	Logs []string
	// Events holds the program's events, in their order.
	Events []protocol.Event
	// Transaction is the simulated unsigned transaction, and Signing the context for a signer, so policies
	// can check it: see Policy.Check of package policy.
	Transaction *solana.Transaction
	Signing     Signing
	// Changes lists the accounts whose balances would change, in transaction order.
	Changes []transaction.BalanceChange
}

// Simulate executes the action without effect and without signing. The precondition need not be met. It
// rebuilds a close if the treasury was replaced since: then Rent and Warnings of the action and the result
// describe the action that [Action.Do] would send.
//
// It fails with the simulation's error, a [*protocol.ProgramError] or a [*transaction.Error], and then also
// returns the logs.
func (a *Action) Simulate(ctx context.Context) (*DryRun, error) {
	run, err := a.dryRun(ctx)
	if err == nil || a.rebuild(ctx, err, math.MaxUint64) != nil {
		return run, err
	}
	return a.dryRun(ctx)
}

// dryRun simulates the built instructions.
func (a *Action) dryRun(ctx context.Context) (*DryRun, error) {
	inputs, err := a.gather(ctx, false)
	if err != nil {
		return nil, err
	}
	tx, result, err := a.fitComputeLimit(ctx, inputs)
	if err != nil {
		return nil, err
	}
	if err := simulationError(tx, result); err != nil {
		return &DryRun{Logs: result.Logs}, err
	}
	written, err := tx.Message.Writable()
	if err != nil {
		return nil, fmt.Errorf("haggle: %s: %w", a.Name, err)
	}
	before, _, err := a.client.accounts(ctx, written...)
	if err != nil {
		return nil, err
	}
	// It is simulated again as it would be sent, because the fee depends on the limit.
	if result, err = a.client.simulate(ctx, tx, inputs, written...); err != nil {
		return nil, err
	}
	if err := simulationError(tx, result); err != nil {
		return &DryRun{Logs: result.Logs}, err
	}
	if len(result.Accounts) != len(written) || result.UnitsConsumed == nil {
		return nil, malformed("node simulated with %d accounts instead of %d", len(result.Accounts),
			len(written))
	}
	limit := a.unitLimit(*result.UnitsConsumed, result.Logs)
	run := &DryRun{ComputeUnits: *result.UnitsConsumed, ComputeLimit: limit, Logs: result.Logs, Transaction: tx,
		Signing: a.signing(&inputs.valid)}
	run.PriorityFee = priorityFee(cappedUnitPrice(inputs.price, limit, inputs.maxPriorityFee), limit)
	run.Fee = lamportsPerSignature*uint64(tx.Message.Header.NumRequiredSignatures) + run.PriorityFee
	if run.Events, err = protocol.ParseLogs(result.Logs); err != nil {
		return run, fmt.Errorf("haggle: %s: the simulation's logs: %w", a.Name, err)
	}
	for i, address := range written {
		if change, changes := balanceChange(address, before[i], result.Accounts[i]); changes {
			run.Changes = append(run.Changes, change)
			run.Rent += rentIn(before[i], result.Accounts[i], change)
		}
	}
	return run, nil
}

// rentIn returns the lamports that a created account receives, less any wrapped SOL; zero if the account
// existed, and for a wallet, which needs no rent of another wallet.
func rentIn(before, after *rpc.Account, change transaction.BalanceChange) uint64 {
	if !isMissing(before) || isMissing(after) {
		return 0
	}
	rent := uint64(max(change.Lamports(), 0))
	if change.Tokens == nil {
		return rent
	}
	if _, wraps := token.WrappedSOLProgram(change.Tokens.Mint); wraps {
		rent -= min(rent, change.Tokens.After)
	}
	return rent
}

// lamportsPerSignature is the chain's fee for each signature.
const lamportsPerSignature = 5_000

// priorityFee returns the highest cost of this many units, in lamports; the chain rounds up.
func priorityFee(unitPrice uint64, limit uint32) uint64 {
	whole, rest := unitPrice/microLamports, unitPrice%microLamports
	return whole*uint64(limit) + (rest*uint64(limit)+microLamports-1)/microLamports
}

// balanceChange compares an account with the simulated state. It returns false if no balance differs.
func balanceChange(address solana.PublicKey, before, after *rpc.Account) (transaction.BalanceChange, bool) {
	change := transaction.BalanceChange{Account: address}
	if before != nil {
		change.LamportsBefore = before.Lamports
	}
	if after != nil {
		change.LamportsAfter = after.Lamports
	}
	was, is := tokensIn(address, before), tokensIn(address, after)
	if was != nil || is != nil {
		change.Tokens = &transaction.TokenChange{}
	}
	if was != nil {
		change.Tokens.Mint, change.Tokens.Owner, change.Tokens.Before = was.Mint, was.Owner, was.Amount
	}
	if is != nil {
		change.Tokens.Mint, change.Tokens.Owner, change.Tokens.After = is.Mint, is.Owner, is.Amount
	}
	differs := change.LamportsBefore != change.LamportsAfter ||
		change.Tokens != nil && (change.Tokens.Before != change.Tokens.After || (was == nil) != (is == nil))
	return change, differs
}

// tokensIn decodes a token account; nil if it is something else.
func tokensIn(address solana.PublicKey, account *rpc.Account) *token.Account {
	if isMissing(account) || account.Data == nil {
		return nil
	}
	decoded, err := token.DecodeAccount(address, account, 0)
	if err != nil {
		return nil
	}
	return decoded
}
