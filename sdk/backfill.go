package haggle

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

const (
	// historyPage is the most signatures that a node lists at once.
	historyPage = 1000
	// historyLimit is the most signatures of one address that are fetched at once.
	historyLimit = 100_000
	// settledSlots is how far behind the newest slot a node has certainly listed everything: it writes its list a little later
	// than it tells of a transaction.
	settledSlots = 32
)

// ErrHistoryTooLong: more has happened at an address than can be made up for.
var ErrHistoryTooLong = errors.New("haggle: the address has too long a history")

// entry is a transaction in the history of an address.
type entry struct {
	signature solana.Signature
	slot      uint64
	failed    bool
	// processed says that it is in a block that is not complete yet, in which its position may change. A validator lists none of these.
	processed bool
}

// signatures is a page of the transactions that mention an address, the newest first. None of its elements is nil.
func (c *Client) signatures(ctx context.Context, address solana.PublicKey, options *rpc.GetSignaturesForAddressOpts) ([]*rpc.TransactionSignature, error) {
	listed, err := c.rpc.GetSignaturesForAddressWithOpts(ctx, address, options)
	if err != nil {
		return nil, err
	}
	if slices.Contains(listed, nil) {
		return nil, malformed("the node lists a transaction without saying which")
	}
	return listed, nil
}

// newest is the mark at which an address is now. slot is one that the node had reached before.
func (c *Client) newest(ctx context.Context, address solana.PublicKey, slot uint64) (position, error) {
	one := 1
	listed, err := c.signatures(ctx, address, &rpc.GetSignaturesForAddressOpts{Limit: &one, Commitment: c.commitment, MinContextSlot: &slot})
	if err != nil {
		return position{}, err
	}
	if len(listed) == 0 {
		return position{slot: slot}, nil
	}
	return position{signature: listed[0].Signature, slot: listed[0].Slot}, nil
}

// markAt is the mark of a transaction.
func (c *Client) positionOf(ctx context.Context, signature solana.Signature) (position, error) {
	statuses, err := c.rpc.GetSignatureStatuses(ctx, true, signature)
	if err != nil {
		return position{}, err
	}
	if len(statuses.Value) != 1 || statuses.Value[0] == nil {
		return position{}, fmt.Errorf("haggle: the node does not know transaction %s", signature)
	}
	return position{signature: signature, slot: statuses.Value[0].Slot}, nil
}

// since lists what has happened at an address after a mark, the oldest first. A node that has not reached the slot head, unless that
// is zero, must not answer: another one may have.
func (c *Client) since(ctx context.Context, address solana.PublicKey, from position, head uint64) ([]entry, error) {
	var entries []entry
	page := historyPage
	options := &rpc.GetSignaturesForAddressOpts{Limit: &page, Until: from.signature, Commitment: c.commitment, MinContextSlot: &head}
	for {
		listed, err := c.signatures(ctx, address, options)
		if err != nil {
			return nil, err
		}
		for _, item := range listed {
			// A node that has thrown the mark's transaction away goes on beyond it. A mark in a slot that there has not been yet is
			// from a node that was wrong about that, and must not hide what happens until then.
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
		if len(entries) >= historyLimit {
			return nil, fmt.Errorf("%w: %s", ErrHistoryTooLong, address)
		}
		options.Before = listed[len(listed)-1].Signature
	}
}

// blockPositions is where the transactions of a slot are in its block; nil if the node does not say.
func (c *Client) blockPositions(ctx context.Context, slot uint64) (map[solana.Signature]int, error) {
	newest, none := uint64(math.MaxUint8), false
	block, err := c.rpc.GetBlockWithOpts(ctx, slot, &rpc.GetBlockOpts{
		TransactionDetails: rpc.TransactionDetailsSignatures, Rewards: &none, Commitment: c.commitment, MaxSupportedTransactionVersion: &newest,
	})
	var refused *NodeError
	if errors.Is(err, rpc.ErrNotFound) || errors.As(err, &refused) && !refused.busy() {
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
