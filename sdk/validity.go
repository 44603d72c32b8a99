package haggle

import (
	"context"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/node"
)

// validity is how long a transaction can be executed.
type validity struct {
	// lastHeight is the last height of a block that it can be in; zero with a nonce.
	lastHeight uint64
	// blockhash is the transaction's blockhash; with a nonce the nonce's value.
	blockhash solana.Hash
	// nonce is the nonce account of a transaction that can be executed while that holds blockhash; zero
	// without.
	nonce solana.PublicKey
	// since is a slot before which it was not executed; zero if that is not known.
	since uint64
}

const (
	// blockhashLife is the number of blocks after its own in which a blockhash can be used.
	blockhashLife = 150
	// nodeLag is the number of blocks by which a node may be behind the node that a blockhash comes from.
	nodeLag = 150
	// unknownDateLimit is how long a node may be behind the node that a blockhash or a nonce's value comes
	// from.
	unknownDateLimit = 5 * time.Second
)

// validityOf returns how long a transaction is valid that this client did not build. Its since is zero if the
// transaction may have been executed at any time before: no node knows its blockhash, or its nonce account
// has another value.
func (c *Client) validityOf(ctx context.Context, tx *solana.Transaction) (*validity, error) {
	valid := &validity{blockhash: tx.Message.RecentBlockhash}
	if tx.UsesDurableNonce() {
		var err error
		if valid.nonce, err = nonceOf(tx); err != nil {
			return nil, err
		}
	} else {
		epoch, err := c.rpc.GetEpochInfo(ctx, rpc.CommitmentProcessed)
		if err != nil {
			return nil, err
		}
		if epoch == nil {
			return nil, malformed("node returned no block height")
		}
		valid.lastHeight = epoch.BlockHeight + blockhashLife + nodeLag
	}
	polling, limit := newPolling(), time.Now().Add(unknownDateLimit)
	for {
		known, err := c.notExecutedBefore(ctx, tx.Signatures[0], valid)
		if known || err == nil && !time.Now().Before(limit) {
			return valid, nil
		}
		if err != nil && !time.Now().Before(limit) {
			return nil, err
		}
		if err := wait.For(ctx, polling.NextBackOff()); err != nil {
			return nil, opaque(err)
		}
	}
}

// notExecutedBefore sets since. It returns true if a later attempt would have the same result.
func (c *Client) notExecutedBefore(
	ctx context.Context, signature solana.Signature, valid *validity,
) (known bool, err error) {
	if !valid.nonce.IsZero() {
		options := &rpc.GetMultipleAccountsOpts{Commitment: rpc.CommitmentConfirmed,
			Encoding: solana.EncodingBase64}
		accounts, slot, err := accountsAt(ctx, c.rpc, options, valid.nonce)
		if err != nil || !holdsNonce(accounts[0], valid.blockhash) {
			return false, err
		}
		valid.since = slot
		return true, nil
	}
	// While a blockhash is valid, every node knows all transactions that have used it.
	epoch, err := c.rpc.GetEpochInfo(ctx, rpc.CommitmentConfirmed)
	if err != nil {
		return false, err
	}
	status, slot, err := statusAt(ctx, c.rpc, signature)
	if err != nil || status != nil {
		return err == nil, err
	}
	answer, err := c.rpc.IsBlockhashValid(ctx, valid.blockhash, rpc.CommitmentProcessed)
	if err != nil {
		return false, err
	}
	if epoch == nil || answer == nil || slot < epoch.AbsoluteSlot || answer.Context.Slot < slot {
		return false, node.ErrBehind
	}
	if answer.Value {
		valid.since = epoch.AbsoluteSlot
	}
	return answer.Value, nil
}
