package feed

import (
	"cmp"
	"context"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// queued is a transaction to deliver, with the lists that contain it.
type queued struct {
	transaction.Listed
	lists []*listing
}

// backlog holds the transactions to deliver, each once, ordered by slot and within a slot by their position
// in the block.
type backlog struct {
	feed  *Feed
	items []*queued
	// handled holds the delivered or skipped transactions since the oldest cursor, with their slots.
	handled map[solana.Signature]uint64
}

// order sorts the transactions. If the node did not order the end of the backlog yet, order removes and
// returns that end.
func (b *backlog) order(ctx context.Context) (postponed []*queued, err error) {
	slices.SortStableFunc(b.items, func(a, b *queued) int { return cmp.Compare(a.Slot, b.Slot) })
	for first := 0; first < len(b.items); {
		next := first + 1
		for next < len(b.items) && b.items[next].Slot == b.items[first].Slot {
			next++
		}
		same := b.items[first:next]
		if len(same) > 1 && slices.ContainsFunc(same, func(item *queued) bool { return item.Processed }) {
			postponed, b.items = b.items[first:], b.items[:first]
			return postponed, nil
		}
		if err := b.orderSlot(ctx, same); err != nil {
			return nil, err
		}
		first = next
	}
	return nil, nil
}

// orderSlot sorts a slot's transactions by a list containing all, otherwise by the block.
func (b *backlog) orderSlot(ctx context.Context, items []*queued) error {
	if len(items) == 1 {
		return nil
	}
	positions := commonList(items)
	if positions == nil {
		var err error
		if positions, err = b.feed.blockPositions(ctx, items[0].Slot); err != nil {
			return err
		}
	}
	slices.SortStableFunc(items,
		func(a, b *queued) int { return cmp.Compare(positions[a.Signature], positions[b.Signature]) })
	return nil
}

// commonList returns the positions of a slot's transactions in a list containing all; nil if no list does.
func commonList(items []*queued) map[solana.Signature]int {
	for _, candidate := range items[0].lists {
		if slices.ContainsFunc(items,
			func(item *queued) bool { return !slices.Contains(item.lists, candidate) }) {
			continue
		}
		positions := make(map[solana.Signature]int, len(items))
		at, _ := slices.BinarySearchFunc(candidate.entries, items[0].Slot,
			func(e transaction.Listed, slot uint64) int { return cmp.Compare(e.Slot, slot) })
		for ; at < len(candidate.entries) && candidate.entries[at].Slot == items[0].Slot; at++ {
			positions[candidate.entries[at].Signature] = at
		}
		return positions
	}
	return nil
}
