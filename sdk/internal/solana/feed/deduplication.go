package feed

import (
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func (b *backlog) isHandled(signature solana.Signature) bool {
	_, handled := b.handled[signature]
	return handled
}

func (b *backlog) setHandled(signature solana.Signature, slot uint64) {
	if b.handled == nil {
		b.handled = make(map[solana.Signature]uint64)
	}
	b.handled[signature] = slot
}

func (b *backlog) has(signature solana.Signature) bool {
	return slices.ContainsFunc(b.items, func(item *queued) bool { return item.Signature == signature })
}

// add adds a list's unhandled entries. Failed transactions, and transactions excluded by skip, count as
// handled.
func (b *backlog) add(listed *listing, skip func(transaction.Listed) bool) {
	waiting := make(map[solana.Signature]*queued, len(b.items))
	for _, item := range b.items {
		waiting[item.Signature] = item
	}
	for _, item := range listed.entries {
		switch known := waiting[item.Signature]; {
		case b.isHandled(item.Signature):
		case item.Failed || skip(item):
			b.setHandled(item.Signature, item.Slot)
		case known != nil:
			known.lists = append(known.lists, listed)
		default:
			b.items = append(b.items, &queued{Listed: item, lists: []*listing{listed}})
		}
	}
}

// forget drops the handled transactions before a slot, except if late hints may repeat them.
func (b *backlog) forget(oldest uint64) {
	for signature, slot := range b.handled {
		if slot+lateSlots < oldest {
			delete(b.handled, signature)
		}
	}
}
