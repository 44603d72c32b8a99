package feed

import (
	"maps"
	"slices"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// position is a point in an address's history: everything earlier was read.
type position struct {
	// signature is the last transaction before the position; zero if none.
	signature solana.Signature
	// slot is the first slot that may contain later transactions.
	slot uint64
}

// advance returns the position after the newest entry whose predecessors the node certainly listed. head is a
// slot reached by the node before it listed the entries.
func (m position) advance(entries []transaction.Listed, head uint64) position {
	certain := head - min(head, transaction.SettledSlots)
	if m.slot > head {
		m.slot = certain
	}
	for _, item := range slices.Backward(entries) {
		if item.Slot <= certain {
			m.signature = item.Signature
			break
		}
	}
	m.slot = max(m.slot, certain)
	return m
}

// cursor is the progress of reading and delivering an address's history.
type cursor struct {
	address solana.PublicKey
	// complete is a position: everything before it was handled.
	complete position
	// latest is the last handled transaction. Earlier transactions may be missing, because nodes list some
	// late.
	latest position
	// delivered is the slot of the last delivered event.
	delivered uint64
	// listedAt is a slot reached by the node when everything earlier was handled, and the account did not
	// change until slot unchangedTo. The reconciler uses both.
	listedAt, unchangedTo uint64
}

// cursors holds the cursors of a watcher's addresses.
type cursors struct {
	lock      sync.Mutex
	byAddress map[solana.PublicKey]*cursor
}

// at returns an address's cursor; nil if it is not watched.
func (c *cursors) at(address solana.PublicKey) *cursor {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.byAddress[address]
}

func (c *cursors) add(added *cursor) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.byAddress == nil {
		c.byAddress = make(map[solana.PublicKey]*cursor)
	}
	c.byAddress[added.address] = added
}

func (c *cursors) remove(address solana.PublicKey) {
	c.lock.Lock()
	defer c.lock.Unlock()
	delete(c.byAddress, address)
}

// all returns the cursors.
func (c *cursors) all() []*cursor {
	c.lock.Lock()
	defer c.lock.Unlock()
	return slices.Collect(maps.Values(c.byAddress))
}

// recordUnchanged records that an account did not change between two slots. It returns false if something
// that the node had listed in the first slot is not handled.
func (c *cursors) recordUnchanged(address solana.PublicKey, from, to uint64) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	at := c.byAddress[address]
	if at == nil || at.listedAt < from {
		return false
	}
	at.unchangedTo = to
	return true
}

// skipUnchanged moves a cursor to SettledSlots before the slot up to which the account did not change.
func (c *cursors) skipUnchanged(at *cursor) {
	c.lock.Lock()
	defer c.lock.Unlock()
	at.complete.slot = max(at.complete.slot, at.unchangedTo-min(at.unchangedTo, transaction.SettledSlots))
}

// advance moves a list's cursor once the transactions are handled.
func (c *cursors) advance(listed *listing) {
	c.lock.Lock()
	defer c.lock.Unlock()
	at := listed.cursor
	if last := len(listed.entries) - 1; last >= 0 && !listed.entries[last].Processed {
		at.latest = position{signature: listed.entries[last].Signature, slot: listed.entries[last].Slot}
	}
	if listed.all {
		at.complete = at.complete.advance(listed.entries, listed.head)
		at.listedAt = listed.head
	}
}
