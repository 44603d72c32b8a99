package send

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
	"github.com/haggle-protocol/haggle/sdk/node"
)

// ErrPruned: the transaction can no longer be executed, and no node has the blocks that would show whether it
// was.
var ErrPruned = errors.New("node has deleted the blocks that the transaction could be in: use a node with a longer history")

// expiry is one node's answer to whether a transaction has expired.
type expiry int

const (
	// expiryUnknown: the node did not answer, or is behind.
	expiryUnknown expiry = iota
	// expiryRefuted: the transaction can be executed, or was.
	expiryRefuted
	// expiryUnprovable: it can no longer be executed, and the node would not know if it was.
	expiryUnprovable
	// expiryProven: it can no longer be executed, and was not.
	expiryProven
)

// contradictionTimeout is how long the other nodes may take to contradict a node that reports an expiry.
const contradictionTimeout = 5 * time.Second

// hasExpired reports whether the transaction can no longer be executed and was not. One node has to prove all
// of it alone, because the answers of several nodes need not be consistent: the node with the old blocks and
// the node without a status may be different nodes. If any other node has a status, that status is returned
// instead, even if the node is behind.
//
// It fails if the expiry can no longer be proven.
func (p *Pending) hasExpired(
	ctx context.Context,
) (expired bool, status *rpc.SignatureStatusesResult, err error) {
	p.sender.eachNode(func(node *rpc.Client) (next bool) {
		var answer expiry
		var pruned error
		answer, status, pruned = p.expiryAt(ctx, node)
		switch answer {
		case expiryUnprovable:
			err = pruned
		case expiryProven, expiryRefuted:
			expired, err = answer == expiryProven, nil
			return false
		}
		return true
	})
	if expired && p.sender.Pool.Size() > 1 {
		ctx, cancel := context.WithTimeout(ctx, contradictionTimeout)
		defer cancel()
		p.sender.eachNodeIncludingStale(func(node *rpc.Client) (next bool) {
			status, _, _ = StatusAt(ctx, node, p.Signature)
			return status == nil && ctx.Err() == nil
		})
	}
	return expired && status == nil && ctx.Err() == nil, status, err
}

// expiryAt requests the answer of one node. The order matters: it requests the status after the transaction
// could no longer be executed, and the oldest block of the node last.
func (p *Pending) expiryAt(
	ctx context.Context, from *rpc.Client,
) (expiry, *rpc.SignatureStatusesResult, error) {
	over, reached, err := p.Valid.isOver(ctx, from)
	if err != nil {
		return expiryUnknown, nil, nil
	}
	status, slot, err := StatusAt(ctx, from, p.Signature)
	switch {
	case err != nil:
		return expiryUnknown, nil, nil
	case status != nil || !over:
		return expiryRefuted, status, nil
	case slot < reached:
		return expiryUnknown, nil, nil
	}
	// A node that has deleted blocks does not know the transactions in them.
	first, err := from.GetFirstAvailableBlock(ctx)
	switch {
	case err != nil:
		return expiryUnknown, nil, nil
	case first <= p.Valid.Since:
		return expiryProven, nil, nil
	case p.Valid.Since == 0:
		return expiryUnprovable, nil, fmt.Errorf("%w (age of the transaction unknown, first block of the node %d)", ErrPruned, first)
	}
	return expiryUnprovable, nil, fmt.Errorf("%w (transaction from slot %d, first block of the node %d)",
		ErrPruned, p.Valid.Since, first)
}

// isOver reports whether a transaction can no longer be executed, because the finalized height is beyond the
// last valid one, or the finalized nonce account has another value. reached is the slot of the answer.
func (v *Validity) isOver(ctx context.Context, from *rpc.Client) (over bool, reached uint64, err error) {
	if v.Nonce.IsZero() {
		epoch, err := from.GetEpochInfo(ctx, rpc.CommitmentFinalized)
		if err != nil {
			return false, 0, err
		}
		return epoch.BlockHeight > v.LastHeight, epoch.AbsoluteSlot, nil
	}
	options := &rpc.GetMultipleAccountsOpts{Commitment: rpc.CommitmentFinalized,
		Encoding: solana.EncodingBase64}
	accounts, slot, err := Accounts(ctx, from, options, v.Nonce)
	if err != nil {
		return false, 0, err
	}
	// A node that is behind may return the account as it was before it got the transaction's value.
	if slot < v.Since {
		return false, 0, node.ErrBehind
	}
	return !holdsNonce(accounts[0], v.Blockhash), slot, nil
}

// StatusAt returns a transaction's status, searched for in the node's history as well; nil if the node does
// not know it. The slot is that of the answer.
func StatusAt(
	ctx context.Context, from *rpc.Client, signature solana.Signature,
) (*rpc.SignatureStatusesResult, uint64, error) {
	statuses, err := from.GetSignatureStatuses(ctx, true, signature)
	if err != nil {
		return nil, 0, err
	}
	if len(statuses.Value) != 1 {
		return nil, 0, rpcpool.Malformed("node returned %d statuses instead of 1", len(statuses.Value))
	}
	return statuses.Value[0], statuses.Context.Slot, nil
}
