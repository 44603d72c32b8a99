package haggle

import (
	"context"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

// validity says until when a transaction can be executed.
type validity struct {
	// lastHeight is the last height of a block that it can be in; zero with a nonce.
	lastHeight uint64
	// blockhash is the transaction's if lastHeight is an estimate, which may be too low should the node be behind; with a nonce the
	// nonce's value; otherwise zero.
	blockhash solana.Hash
	// nonce is the nonce account of a transaction that can be executed until that has another value than blockhash; zero without.
	nonce solana.PublicKey
	// since is a slot before which it cannot have been executed; zero if that is not known.
	since uint64
}

// blockhashLife is how many blocks after its own a blockhash can be used in.
const blockhashLife = 150

// validityOf finds out until when a transaction can be executed that somebody else has made. Its since is zero if the transaction
// may have been executed at any time before: then no node knows its blockhash, or its nonce account has another value.
func (c *Client) validityOf(ctx context.Context, transaction *solana.Transaction) (validity, error) {
	height, err := c.highestBlock(ctx)
	if err != nil {
		return validity{}, err
	}
	valid := validity{blockhash: transaction.Message.RecentBlockhash}
	if transaction.UsesDurableNonce() {
		if valid.nonce, err = nonceOf(transaction); err != nil {
			return validity{}, err
		}
	} else {
		valid.lastHeight = height + blockhashLife
	}
	valid.since, err = c.notExecutedBefore(ctx, transaction.Signatures[0], &valid)
	return valid, err
}

// highestBlock is the height of the newest block that the node knows of.
func (c *Client) highestBlock(ctx context.Context) (height uint64, err error) {
	for _, commitment := range []rpc.CommitmentType{rpc.CommitmentProcessed, rpc.CommitmentConfirmed} {
		epoch, err := c.rpc.GetEpochInfo(ctx, commitment)
		if err != nil {
			return 0, err
		}
		if epoch == nil {
			return 0, malformed("the node does not say how high its newest block is")
		}
		height = max(height, epoch.BlockHeight)
	}
	return height, nil
}

// unknownDateLimit is how long a node may be behind the one that a blockhash or a nonce's value has come from.
const unknownDateLimit = 5 * time.Second

// notExecutedBefore is a slot before which a transaction has not been executed, whoever may have sent it; zero if nobody knows of one.
// It fails if no node answers.
func (c *Client) notExecutedBefore(ctx context.Context, signature solana.Signature, valid *validity) (uint64, error) {
	prove := func(node *rpc.Client) (proof, error) { return provedByBlockhash(ctx, node, signature, valid.blockhash) }
	if !valid.nonce.IsZero() {
		prove = func(node *rpc.Client) (proof, error) { return provedByNonce(ctx, node, valid) }
	}
	limit := time.Now().Add(unknownDateLimit)
	for poll := firstPoll; ; poll = min(poll*2, lastPoll) {
		var found proof
		var failed error
		answered := false
		c.eachNode(func(node *rpc.Client) (goOn bool) {
			var err error
			if found, err = prove(node); err != nil {
				failed = err
				return true
			}
			answered = true
			return !found.executed && found.since == 0
		})
		if found.executed || found.since > 0 {
			return found.since, nil
		}
		if !time.Now().Before(limit) {
			if answered {
				failed = nil
			}
			return 0, failed
		}
		if err := wait.For(ctx, poll); err != nil {
			return 0, opaque{err}
		}
	}
}

// proof is what one node knows of a transaction's past: that it has been executed, or a slot before which it has not been, unless that
// is zero.
type proof struct {
	since    uint64
	executed bool
}

// provedByBlockhash finds out whether the blockhash is valid: as long as it is, every node knows all transactions that have used it.
// The slot is one that is not on another fork than the chain goes on with.
func provedByBlockhash(ctx context.Context, node *rpc.Client, signature solana.Signature, blockhash solana.Hash) (none proof, err error) {
	epoch, err := node.GetEpochInfo(ctx, rpc.CommitmentConfirmed)
	if err != nil {
		return none, err
	}
	status, slot, err := statusAt(ctx, node, signature)
	if err != nil || status != nil {
		return proof{executed: status != nil}, err
	}
	answer, err := node.IsBlockhashValid(ctx, blockhash, rpc.CommitmentProcessed)
	if err != nil {
		return none, err
	}
	if epoch == nil || answer == nil || slot < epoch.AbsoluteSlot || answer.Context.Slot < slot {
		return none, ErrNodeBehind
	}
	if !answer.Value {
		return none, nil
	}
	return proof{since: epoch.AbsoluteSlot}, nil
}

// provedByNonce finds out whether the nonce account has the transaction's value, which executing the transaction changes.
func provedByNonce(ctx context.Context, node *rpc.Client, valid *validity) (none proof, err error) {
	options := &rpc.GetMultipleAccountsOpts{Commitment: rpc.CommitmentConfirmed, Encoding: solana.EncodingBase64}
	accounts, slot, err := accountsAt(ctx, node, options, valid.nonce)
	if err != nil || !holdsNonce(accounts[0], valid.blockhash) {
		return none, err
	}
	return proof{since: slot}, nil
}
