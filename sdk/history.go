package haggle

import (
	"context"
	"errors"
	"fmt"
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

// mark is a point in the history of an address: everything up to it has been seen.
type mark struct {
	// signature is the last transaction that has been seen; zero if that is none.
	signature solana.Signature
	// slot is the first one of which something may not have been seen.
	slot uint64
}

// entry is a transaction in the history of an address.
type entry struct {
	signature solana.Signature
	slot      uint64
	failed    bool
}

// signatures is a page of the transactions that mention an address, the newest first. None of its elements is nil.
func (c *Client) signatures(ctx context.Context, address solana.PublicKey, options *rpc.GetSignaturesForAddressOpts) ([]*rpc.TransactionSignature, error) {
	listed, err := c.rpc.GetSignaturesForAddressWithOpts(ctx, address, options)
	if err != nil {
		return nil, err
	}
	if slices.Contains(listed, nil) {
		return nil, errors.New("haggle: the node lists a transaction without saying which")
	}
	return listed, nil
}

// newest is the mark at which an address is now.
func (c *Client) newest(ctx context.Context, address solana.PublicKey) (mark, error) {
	slot, err := c.rpc.GetSlot(ctx, c.commitment)
	if err != nil {
		return mark{}, err
	}
	one := 1
	listed, err := c.signatures(ctx, address, &rpc.GetSignaturesForAddressOpts{Limit: &one, Commitment: c.commitment})
	if err != nil {
		return mark{}, err
	}
	if len(listed) == 0 {
		return mark{slot: slot}, nil
	}
	return mark{signature: listed[0].Signature, slot: listed[0].Slot}, nil
}

// markAt is the mark of a transaction.
func (c *Client) markAt(ctx context.Context, signature solana.Signature) (mark, error) {
	statuses, err := c.rpc.GetSignatureStatuses(ctx, true, signature)
	if err != nil {
		return mark{}, err
	}
	if len(statuses.Value) != 1 || statuses.Value[0] == nil {
		return mark{}, fmt.Errorf("haggle: the node does not know transaction %s", signature)
	}
	return mark{signature: signature, slot: statuses.Value[0].Slot}, nil
}

// since lists what has happened at an address after a mark, the oldest first.
func (c *Client) since(ctx context.Context, address solana.PublicKey, from mark) ([]entry, error) {
	var entries []entry
	page := historyPage
	options := &rpc.GetSignaturesForAddressOpts{Limit: &page, Until: from.signature, Commitment: c.commitment}
	for {
		listed, err := c.signatures(ctx, address, options)
		if err != nil {
			return nil, err
		}
		for _, item := range listed {
			// A node that has thrown the mark's transaction away goes on beyond it.
			if item.Slot < from.slot || item.Signature == from.signature {
				slices.Reverse(entries)
				return entries, nil
			}
			entries = append(entries, entry{signature: item.Signature, slot: item.Slot, failed: item.Err != nil})
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

// advance moves a mark to the newest entry that the node has certainly listed together with everything before it. head is a slot
// that the node had reached when it was asked for the entries.
func (m mark) advance(entries []entry, head uint64) mark {
	certain := head - min(head, settledSlots)
	for _, item := range slices.Backward(entries) {
		if item.slot <= certain {
			m.signature = item.signature
			break
		}
	}
	m.slot = max(m.slot, certain)
	return m
}
