package feed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/history"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// HistoryLimit limits the signatures that a subscription keeps per address.
const HistoryLimit = 100_000

// ErrTooLong: there are more new transactions for an address than a subscription keeps.
var ErrTooLong = errors.New("history of the address is too long")

// endOf returns the current end of an address's history. slot is a slot reached by the node before.
func (f *Feed) endOf(ctx context.Context, address solana.PublicKey, slot uint64) (position, error) {
	query := history.Query{Address: address, Commitment: f.Commitment, MinContextSlot: slot, PageSize: 1}
	for page, err := range history.Pages(ctx, f.RPC, query) {
		if err != nil {
			return position{}, err
		}
		return position{signature: page[0].Signature, slot: page[0].Slot}, nil
	}
	return position{slot: slot}, nil
}

// HasEffects reports whether a successful transaction mentions address. It returns an error if the newest
// [HistoryLimit] transactions all failed.
func (f *Feed) HasEffects(ctx context.Context, address solana.PublicKey) (bool, error) {
	seen := 0
	for page, err := range history.Pages(ctx, f.RPC, history.Query{Address: address, Commitment: f.Commitment}) {
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(page, func(item transaction.Listed) bool { return !item.Failed }) {
			return true, nil
		}
		if seen += len(page); seen >= HistoryLimit {
			return false, fmt.Errorf("%w: %s", ErrTooLong, address)
		}
	}
	return false, nil
}

// positionOf returns the position of a transaction.
func (f *Feed) positionOf(ctx context.Context, signature solana.Signature) (position, error) {
	statuses, err := f.RPC.GetSignatureStatuses(ctx, true, signature)
	if err != nil {
		return position{}, err
	}
	if len(statuses.Value) != 1 || statuses.Value[0] == nil {
		return position{}, fmt.Errorf("transaction %s not found", signature)
	}
	return position{signature: signature, slot: statuses.Value[0].Slot}, nil
}

// since lists an address's transactions after a position, the oldest first. If head is not zero, a node that
// lags behind the slot head must not serve the request, because another node may be ahead.
func (f *Feed) since(
	ctx context.Context, address solana.PublicKey, from position, head uint64,
) ([]transaction.Listed, error) {
	var listed []transaction.Listed
	query := history.Query{Address: address, Until: from.signature, Commitment: f.Commitment, MinContextSlot: head}
	for page, err := range history.Pages(ctx, f.RPC, query) {
		if err != nil {
			return nil, err
		}
		// A node that deleted the position's transaction lists beyond it. A position in a slot beyond the
		// chain's comes from a node with a wrong slot, and must not hide transactions before that slot.
		end := slices.IndexFunc(page, func(item transaction.Listed) bool {
			return item.Slot < from.slot && (head == 0 || from.slot <= head) || item.Signature == from.signature
		})
		if end >= 0 {
			listed = append(listed, page[:end]...)
			break
		}
		listed = append(listed, page...)
		if len(listed) > HistoryLimit {
			return nil, fmt.Errorf("%w: %s", ErrTooLong, address)
		}
	}
	slices.Reverse(listed)
	return listed, nil
}

// blockPositions returns the positions of a slot's transactions within the block; nil if the node does not
// return the block.
func (f *Feed) blockPositions(ctx context.Context, slot uint64) (map[solana.Signature]int, error) {
	newest, none := uint64(math.MaxUint8), false
	block, err := f.RPC.GetBlockWithOpts(ctx, slot, &rpc.GetBlockOpts{
		TransactionDetails: rpc.TransactionDetailsSignatures, Rewards: &none, Commitment: f.Commitment,
		MaxSupportedTransactionVersion: &newest,
	})
	var refused *transaction.NodeError
	if errors.Is(err, rpc.ErrNotFound) || errors.As(err, &refused) && !refused.IsBusy() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	positions := make(map[solana.Signature]int, len(block.Signatures))
	for i, signature := range block.Signatures {
		positions[signature] = i
	}
	return positions, nil
}
