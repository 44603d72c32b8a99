package localnet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

const (
	// sendLimit is the longest time from signing a transaction to confirmation.
	sendLimit = 60 * time.Second
	// sendAttempts is how often a transaction is signed if the chain does not find the blockhash.
	sendAttempts = 5
)

// Client returns a JSON-RPC client of the chain. Close closes it.
func (c *Chain) Client() *rpc.Client { return c.client }

// Faucet returns the account that pays for the transactions of all methods. It is the mint authority and
// freeze authority of the mints that they create.
func (c *Chain) Faucet() solana.PublicKey { return c.faucet.PublicKey() }

// Send sends a transaction signed by the signers and the faucet, which pays for it, and waits for confirmation.
// If it fails, the error contains the programs' logs. It returns an error if the transaction is not confirmed
// after 60 s.
func (c *Chain) Send(ctx context.Context, signers []solana.PrivateKey,
	instructions ...solana.Instruction) (solana.Signature, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, sendLimit, fmt.Errorf("not confirmed after %s", sendLimit))
	defer cancel()
	signers = append([]solana.PrivateKey{c.faucet}, signers...)
	for attempt := 1; ; attempt++ {
		signature, err := c.sendOnce(ctx, signers, instructions)
		if err == nil {
			return signature, c.awaitConfirmation(ctx, signature)
		}
		if attempt == sendAttempts || !strings.Contains(err.Error(), "lockhash not found") {
			return solana.Signature{}, withLogs(err)
		}
		if err := wait.For(ctx, 100*time.Millisecond); err != nil {
			return solana.Signature{}, err
		}
	}
}

func (c *Chain) sendOnce(ctx context.Context, signers []solana.PrivateKey,
	instructions []solana.Instruction) (solana.Signature, error) {
	latest, err := c.client.GetLatestBlockhash(ctx, rpc.CommitmentConfirmed)
	if err != nil {
		return solana.Signature{}, err
	}
	transaction, err := solana.NewTransaction(instructions, latest.Value.Blockhash,
		solana.TransactionPayer(signers[0].PublicKey()))
	if err != nil {
		return solana.Signature{}, err
	}
	_, err = transaction.Sign(func(key solana.PublicKey) *solana.PrivateKey {
		for i := range signers {
			if signers[i].PublicKey().Equals(key) {
				return &signers[i]
			}
		}
		return nil
	})
	if err != nil {
		return solana.Signature{}, err
	}
	return c.client.SendTransactionWithOpts(ctx, transaction,
		rpc.TransactionOpts{PreflightCommitment: rpc.CommitmentConfirmed})
}

func (c *Chain) awaitConfirmation(ctx context.Context, signature solana.Signature) error {
	for {
		statuses, err := c.client.GetSignatureStatuses(ctx, false, signature)
		if err != nil && !errors.Is(err, rpc.ErrNotFound) {
			return err
		}
		if err == nil && len(statuses.Value) == 1 && statuses.Value[0] != nil {
			status := statuses.Value[0]
			if status.Err != nil {
				return fmt.Errorf("transaction %s failed: %v", signature, status.Err)
			}
			switch status.ConfirmationStatus {
			case rpc.ConfirmationStatusConfirmed, rpc.ConfirmationStatusFinalized:
				return nil
			}
		}
		if err := wait.For(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("transaction %s: %w", signature, err)
		}
	}
}

// withLogs adds the failed simulation's log to a refused transaction's error.
func withLogs(err error) error {
	var refused *jsonrpc.RPCError
	if !errors.As(err, &refused) {
		return err
	}
	data, _ := refused.Data.(map[string]any)
	logs, _ := data["logs"].([]any)
	lines := make([]string, 0, len(logs)+1)
	lines = append(lines, refused.Message)
	for _, line := range logs {
		lines = append(lines, fmt.Sprint(line))
	}
	return fmt.Errorf("refused with code %d: %s", refused.Code, strings.Join(lines, "\n"))
}

// Fund transfers lamports from the faucet to an account.
func (c *Chain) Fund(ctx context.Context, account solana.PublicKey, lamports uint64) error {
	_, err := c.Send(ctx, nil, c.gift(account, lamports))
	return err
}

func (c *Chain) gift(account solana.PublicKey, lamports uint64) solana.Instruction {
	return system.NewTransferInstruction(lamports, c.faucet.PublicKey(), account).Build()
}

// Balance returns the account's lamports, or 0 if the account does not exist.
func (c *Chain) Balance(ctx context.Context, account solana.PublicKey) (uint64, error) {
	balance, err := c.client.GetBalance(ctx, account, rpc.CommitmentConfirmed)
	if err != nil {
		return 0, err
	}
	return balance.Value, nil
}
