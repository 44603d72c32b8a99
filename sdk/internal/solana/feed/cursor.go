package feed

import (
	"maps"
	"slices"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// position is a point in the history of an address: everything before it has been read.
type position struct {
	// signature is the last transaction before it; zero if there is none.
	signature solana.Signature
	// slot is the first slot that may have transactions after it.
	slot uint64
}

// advance returns the position after the newest entry whose predecessors the node has certainly listed. head
// is a slot that the node had reached before it listed the entries.
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

// cursor is the progress of reading and delivering the history of an address.
type cursor struct {
	address solana.PublicKey
	// complete is the position before which everything has been handled.
	complete position
	// latest is the last handled transaction. Earlier ones may be missing, because nodes list some late.
	latest position
	// delivered is the slot of the last delivered event.
	delivered uint64
	// listedAt is a slot that the node had reached when everything before it had been handled, and unchangedTo
	// a slot until which the account has not changed. The reconciler uses both.
	listedAt, unchangedTo uint64
}

// cursors are the cursors of a watcher's addresses.
type cursors struct {
	lock      sync.Mutex
	byAddress map[solana.PublicKey]*cursor
}

// at returns the cursor of an address; nil if the address is not watched.
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

// recordUnchanged records that an account has not changed between two slots. It returns false if not
// everything that the node had listed in the first slot has been handled.
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

// skipUnchanged moves a cursor to SettledSlots before the slot until which its account has not changed.
func (c *cursors) skipUnchanged(at *cursor) {
	c.lock.Lock()
	defer c.lock.Unlock()
	at.complete.slot = max(at.complete.slot, at.unchangedTo-min(at.unchangedTo, transaction.SettledSlots))
}

// advance moves the cursor of a list whose transactions have been handled.
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
