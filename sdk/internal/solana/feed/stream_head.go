package feed

import (
	"context"
	"time"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// isUnrelated reports whether this execution of a transaction is known not to concern this program. In a
// different slot it would be a different execution.
func (f *Feed) isUnrelated(item transaction.Listed) bool {
	slot, known := f.unrelated.Get(item.Signature)
	return known && slot == item.Slot
}

// reached returns a slot that the node reached, at most a second old.
func (f *Feed) reached(ctx context.Context) (uint64, error) {
	f.lock.Lock()
	head, at := f.head, f.headAt
	f.lock.Unlock()
	if head > 0 && time.Since(at) < headValidFor {
		return head, nil
	}
	slot, err := f.RPC.GetSlot(ctx, f.Commitment)
	if err != nil {
		return 0, err
	}
	return f.advanceHead(slot), nil
}

// advanceHead records a slot that the node reached.
func (f *Feed) advanceHead(slot uint64) uint64 {
	f.lock.Lock()
	defer f.lock.Unlock()
	if slot >= f.head || slot+rollbackLimit < f.head {
		f.head, f.headAt = slot, time.Now()
	}
	f.newest = max(f.newest, slot)
	return f.head
}
