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
)

const (
	// sendLimit is how long one transaction may take from its signature to its confirmation.
	sendLimit = 60 * time.Second
	// sendAttempts is how often a transaction is signed anew whose blockhash the chain does not know, or no longer.
	sendAttempts = 5
)

// Client is a JSON-RPC client of the chain.
func (c *Chain) Client() *rpc.Client { return c.client }

// Faucet is the account that pays for everything that the chain's methods do. It is the mint authority and the freeze
// authority of the mints that they create.
func (c *Chain) Faucet() solana.PublicKey { return c.faucet.PublicKey() }

// Send signs a transaction with the faucet, who pays for it, and with the signers, sends it and returns once it is confirmed.
// The error of a transaction that fails contains the program's log.
func (c *Chain) Send(ctx context.Context, signers []solana.PrivateKey, instructions ...solana.Instruction) (solana.Signature, error) {
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
		if err := pause(ctx, 100*time.Millisecond); err != nil {
			return solana.Signature{}, err
		}
	}
}

func (c *Chain) sendOnce(ctx context.Context, signers []solana.PrivateKey, instructions []solana.Instruction) (solana.Signature, error) {
	latest, err := c.client.GetLatestBlockhash(ctx, rpc.CommitmentConfirmed)
	if err != nil {
		return solana.Signature{}, err
	}
	transaction, err := solana.NewTransaction(instructions, latest.Value.Blockhash, solana.TransactionPayer(signers[0].PublicKey()))
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
	return c.client.SendTransactionWithOpts(ctx, transaction, rpc.TransactionOpts{PreflightCommitment: rpc.CommitmentConfirmed})
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
			if status.ConfirmationStatus == rpc.ConfirmationStatusConfirmed || status.ConfirmationStatus == rpc.ConfirmationStatusFinalized {
				return nil
			}
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return fmt.Errorf("transaction %s: %w", signature, err)
		}
	}
}

// withLogs adds what the simulation of a refused transaction logged.
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

// Fund gives an account lamports out of the faucet.
func (c *Chain) Fund(ctx context.Context, account solana.PublicKey, lamports uint64) error {
	_, err := c.Send(ctx, nil, c.gift(account, lamports))
	return err
}

func (c *Chain) gift(account solana.PublicKey, lamports uint64) solana.Instruction {
	return system.NewTransferInstruction(lamports, c.faucet.PublicKey(), account).Build()
}

// Balance is an account's lamports: zero if there is no such account.
func (c *Chain) Balance(ctx context.Context, account solana.PublicKey) (uint64, error) {
	balance, err := c.client.GetBalance(ctx, account, rpc.CommitmentConfirmed)
	if err != nil {
		return 0, err
	}
	return balance.Value, nil
}
