package feed

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
	"github.com/haggle-protocol/haggle/sdk/node"
)

const (
	// historyPage is the most signatures that a node lists in one request.
	historyPage = 1000
	// HistoryLimit is the most signatures of one address that are fetched at once.
	HistoryLimit = 100_000
	// SettledSlots is the distance behind the newest slot from which a node's lists are complete. A node
	// updates its list a little after it sends the notification.
	SettledSlots = 32
)

// ErrTooLong: an address has more new transactions than the feed fetches.
var ErrTooLong = errors.New("history of the address is too long")

// entry is a transaction in the history of an address.
type entry struct {
	signature solana.Signature
	slot      uint64
	failed    bool
	// processed reports that the block is not complete yet, so the transaction's position may change. A
	// validator lists no such transactions.
	processed bool
}

// signatures returns a page of the transactions that mention an address, the newest first. None of its
// elements is nil.
func (f *Feed) signatures(
	ctx context.Context, address solana.PublicKey, options *rpc.GetSignaturesForAddressOpts,
) ([]*rpc.TransactionSignature, error) {
	listed, err := f.RPC.GetSignaturesForAddressWithOpts(ctx, address, options)
	if err != nil {
		return nil, err
	}
	if slices.Contains(listed, nil) {
		return nil, rpcpool.Malformed("node listed a transaction without a signature")
	}
	return listed, nil
}

// endOf returns the current end of an address's history. slot is a slot that the node had reached before.
func (f *Feed) endOf(ctx context.Context, address solana.PublicKey, slot uint64) (position, error) {
	one := 1
	listed, err := f.signatures(ctx, address,
		&rpc.GetSignaturesForAddressOpts{Limit: &one, Commitment: f.Commitment, MinContextSlot: &slot})
	if err != nil {
		return position{}, err
	}
	if len(listed) == 0 {
		return position{slot: slot}, nil
	}
	return position{signature: listed[0].Signature, slot: listed[0].Slot}, nil
}

// HasTransactions reports whether an address has any transaction.
func (f *Feed) HasTransactions(ctx context.Context, address solana.PublicKey) (bool, error) {
	end, err := f.endOf(ctx, address, 0)
	return !end.signature.IsZero(), err
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

// since lists the transactions of an address after a position, the oldest first. If head is not zero, a node
// that has not reached the slot head must not serve the request, because another node may have.
func (f *Feed) since(
	ctx context.Context, address solana.PublicKey, from position, head uint64,
) ([]entry, error) {
	var entries []entry
	page := historyPage
	options := &rpc.GetSignaturesForAddressOpts{Limit: &page, Until: from.signature, Commitment: f.Commitment,
		MinContextSlot: &head}
	for {
		listed, err := f.signatures(ctx, address, options)
		if err != nil {
			return nil, err
		}
		for _, item := range listed {
			// A node that has deleted the position's transaction lists beyond it. A position in a slot that
			// the chain has not reached comes from a node with a wrong slot, and must not hide transactions
			// before that slot.
			if item.Slot < from.slot && (head == 0 || from.slot <= head) || item.Signature == from.signature {
				slices.Reverse(entries)
				return entries, nil
			}
			entries = append(entries, entry{
				signature: item.Signature, slot: item.Slot, failed: item.Err != nil,
				processed: item.ConfirmationStatus == rpc.ConfirmationStatusProcessed,
			})
		}
		if len(listed) < historyPage {
			slices.Reverse(entries)
			return entries, nil
		}
		if len(entries) >= HistoryLimit {
			return nil, fmt.Errorf("%w: %s", ErrTooLong, address)
		}
		options.Before = listed[len(listed)-1].Signature
	}
}

// blockPositions returns the positions of a slot's transactions in its block; nil if the node does not return
// the block.
func (f *Feed) blockPositions(ctx context.Context, slot uint64) (map[solana.Signature]int, error) {
	newest, none := uint64(math.MaxUint8), false
	block, err := f.RPC.GetBlockWithOpts(ctx, slot, &rpc.GetBlockOpts{
		TransactionDetails: rpc.TransactionDetailsSignatures, Rewards: &none, Commitment: f.Commitment,
		MaxSupportedTransactionVersion: &newest,
	})
	var refused *node.Error
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
