package journal

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// confirmedEntries are the entries whose transactions are confirmed, so that an idempotency key is never used
// twice.
type confirmedEntries struct {
	entries map[solana.Signature]*confirmedEntry
	byKey   map[keyOfWallet]*confirmedEntry
	// unacknowledged are those whose callers have not received the outcome.
	unacknowledged map[solana.Signature]*confirmedEntry
	order          uint64
}

type confirmedEntry struct {
	confirmed
	order uint64
}

type keyOfWallet struct {
	wallet solana.PublicKey
	key    solana.Hash
}

func (c *confirmedEntries) init() {
	c.entries = make(map[solana.Signature]*confirmedEntry)
	c.byKey = make(map[keyOfWallet]*confirmedEntry)
	c.unacknowledged = make(map[solana.Signature]*confirmedEntry)
}

func (c *confirmedEntries) add(added confirmed) {
	c.order++
	e := &added.Entry
	added.Entry = haggle.JournalEntry{
		Wallet: e.Wallet, Action: e.Action, Negotiation: e.Negotiation, SessionID: e.SessionID, Key: e.Key, Intent: e.Intent,
		Signature: e.Signature, Commitment: e.Commitment, Begun: e.Begun,
	}
	kept := &confirmedEntry{confirmed: added, order: c.order}
	c.entries[added.Entry.Signature] = kept
	if !added.Entry.Key.IsZero() {
		c.byKey[keyOfWallet{added.Entry.Wallet, added.Entry.Key}] = kept
	}
	if !added.Acknowledged {
		c.unacknowledged[added.Entry.Signature] = kept
	}
}

func (c *confirmedEntries) remove(signature solana.Signature) {
	kept := c.entries[signature]
	if kept == nil {
		return
	}
	delete(c.entries, signature)
	delete(c.unacknowledged, signature)
	if key := (keyOfWallet{kept.Entry.Wallet, kept.Entry.Key}); c.byKey[key] == kept {
		delete(c.byKey, key)
	}
}

func (c *confirmedEntries) acknowledge(signature solana.Signature) {
	if kept := c.unacknowledged[signature]; kept != nil {
		kept.Acknowledged = true
		delete(c.unacknowledged, signature)
	}
}

func (c *confirmedEntries) isUnacknowledged(signature solana.Signature) bool {
	return c.unacknowledged[signature] != nil
}

// find returns a copy of the entry with a key, or of the oldest unacknowledged one with an intent; nil if
// there is none.
func (c *confirmedEntries) find(wallet solana.PublicKey, key, intent solana.Hash) *haggle.JournalEntry {
	var found *confirmedEntry
	if !key.IsZero() {
		found = c.byKey[keyOfWallet{wallet, key}]
	}
	if found == nil && !intent.IsZero() {
		for _, kept := range c.unacknowledged {
			if kept.Entry.Wallet == wallet && kept.Entry.Intent == intent && (found == nil || kept.order < found.order) {
				found = kept
			}
		}
	}
	if found == nil {
		return nil
	}
	entry := found.Entry
	return &entry
}

// forget removes the acknowledged entries that were confirmed before a time, and returns their number.
func (c *confirmedEntries) forget(before time.Time) (removed int64) {
	for signature, kept := range c.entries {
		if kept.Acknowledged && kept.At.Before(before) {
			c.remove(signature)
			removed++
		}
	}
	return removed
}

// sorted returns the entries in the order in which they were confirmed.
func (c *confirmedEntries) sorted() []confirmed {
	kept := slices.SortedFunc(maps.Values(c.entries), func(a, b *confirmedEntry) int { return cmp.Compare(a.order, b.order) })
	all := make([]confirmed, len(kept))
	for i, one := range kept {
		all[i] = one.confirmed
	}
	return all
}

// Forget removes the acknowledged entries that were confirmed before a time, and returns their number. The
// journal no longer knows their idempotency keys.
func (f *File) Forget(before time.Time) (int64, error) {
	f.writing.Lock()
	if err := f.usable(); err != nil {
		f.writing.Unlock()
		return 0, err
	}
	removed := f.confirmed.forget(before)
	f.writing.Unlock()
	if removed > 0 {
		f.compact()
	}
	return removed, nil
}
