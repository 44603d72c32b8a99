package feed

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// listing is a node's list of an address's transactions, requested after the node reached the slot head.
type listing struct {
	cursor  *cursor
	entries []transaction.Listed
	head    uint64
	// all reports whether the list begins at cursor.complete instead of cursor.latest.
	all bool
	// until is the slot of the transaction that caused the request; zero if none.
	until uint64
}

// reaches reports whether the list contains every earlier transaction that the node lists for the address: it
// contains the transaction itself, or the node had reached the transaction's slot. A list that is requested
// again for a transaction counts as complete.
func (l *listing) reaches(item *queued) bool {
	return l.head >= item.Slot || l.until >= item.Slot || slices.Contains(item.lists, l)
}

// gather moves the cursors behind the handled transactions and lists the next transactions. If none follow,
// it returns the pause before the next call.
func (w *watcher) gather(ctx context.Context) (time.Duration, error) {
	w.advanceCursors()
	if err := w.discover(ctx); err != nil {
		return 0, err
	}
	due := w.takeDue()
	for _, address := range w.fresh {
		due[address] = true
	}
	w.fresh = nil
	w.listed = make(map[solana.PublicKey]*listing)
	var err error
	for address, all := range due {
		if err == nil && w.cursors.at(address) != nil {
			err = w.list(ctx, address, all, 0)
		}
	}
	if err == nil {
		err = w.lookUpHinted(ctx)
	}
	if err == nil {
		err = w.order(ctx)
	}
	if err != nil {
		w.backlog.items, w.listed = nil, nil
		w.putBack(due)
		return 0, err
	}
	w.limitUnrelated()
	if len(w.backlog.items) > 0 {
		return 0, nil
	}
	w.advanceCursors()
	return w.untilNext(), nil
}

// recheckSoon is the pause before the newest transactions are listed again if the node did not order them.
const recheckSoon = 50 * time.Millisecond

func (w *watcher) takeDue() map[solana.PublicKey]bool {
	w.lock.Lock()
	defer w.lock.Unlock()
	due := make(map[solana.PublicKey]bool, len(w.due))
	for address, all := range w.due {
		// A wallet's address is listed again once the transactions found this way are fetched.
		if w.cursors.at(address) != nil && (address != w.Wallet || len(w.unrelated) == 0) {
			due[address] = all
		}
	}
	w.due = nil
	return due
}

func (w *watcher) putBack(due map[solana.PublicKey]bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for address, all := range due {
		w.addDue(address, all)
	}
}

// list adds an address's new transactions to the backlog, as listed by a node at slot until or later. It
// ignores a slot far ahead of the chain, returned by mistake.
func (w *watcher) list(ctx context.Context, address solana.PublicKey, all bool, until uint64) error {
	head, err := w.feed.reached(ctx)
	if err != nil {
		return err
	}
	if until <= head+transaction.SettledSlots {
		head = max(head, until)
	}
	at := w.cursors.at(address)
	from := at.latest
	if all = all || from.signature.IsZero(); all {
		from = at.complete
	}
	entries, err := w.feed.since(ctx, address, from, head)
	if err != nil {
		return err
	}
	w.listed[address] = &listing{cursor: at, entries: entries, head: head, all: all, until: until}
	w.backlog.add(w.listed[address], w.feed.isUnrelated)
	return nil
}

// order orders the backlog. If the node did not order some transactions yet, they are listed again a little
// later.
func (w *watcher) order(ctx context.Context) error {
	postponed, err := w.backlog.order(ctx)
	if err != nil || len(postponed) == 0 {
		return err
	}
	again := make(map[solana.PublicKey]bool)
	for _, item := range postponed {
		for _, listed := range item.lists {
			again[listed.cursor.address] = true
		}
	}
	w.postponed = true
	w.putBack(again)
	return nil
}

// listFresh adds the transactions of newly found accounts.
func (w *watcher) listFresh(ctx context.Context) error {
	if len(w.fresh) == 0 {
		return nil
	}
	for len(w.fresh) > 0 {
		if w.cursors.at(w.fresh[0]) != nil {
			if err := w.list(ctx, w.fresh[0], true, 0); err != nil {
				return err
			}
		}
		w.fresh = w.fresh[1:]
	}
	return w.order(ctx)
}

// lookUpHinted adds hinted transactions that mention the wallet to the backlog if they are in a block. It
// does so while the wallet's address is not listed because of too many unrelated transactions.
func (w *watcher) lookUpHinted(ctx context.Context) error {
	if len(w.unrelated) == 0 {
		return nil
	}
	w.lock.Lock()
	var hinted []solana.Signature
	for signature, h := range w.hints {
		if h.wallet {
			hinted = append(hinted, signature)
		}
	}
	w.lock.Unlock()
	for _, signature := range hinted {
		if w.backlog.isHandled(signature) || w.backlog.has(signature) || w.allowance.remaining() <= 0 {
			continue
		}
		details, err := w.feed.Transaction(ctx, signature, false)
		if err != nil {
			return err
		}
		if details == nil {
			continue
		}
		w.allowance.used++
		if w.fetched == nil {
			w.fetched = make(map[solana.Signature]*rpc.GetTransactionResult)
		}
		w.fetched[signature] = details
		w.backlog.items = append(w.backlog.items,
			&queued{Listed: transaction.Listed{Signature: signature, Slot: details.Slot}})
	}
	return nil
}

// limitUnrelated removes transactions that only mention the wallet from the backlog if they exceed the
// allowance, and puts earlier ones back as the allowance permits.
func (w *watcher) limitUnrelated() {
	wallet := w.listed[w.Wallet]
	if wallet != nil {
		left := w.allowance.remaining()
		w.backlog.items = slices.DeleteFunc(w.backlog.items, func(item *queued) bool {
			if len(item.lists) != 1 || item.lists[0] != wallet {
				return false
			}
			left--
			if left >= 0 {
				w.allowance.used++
				return false
			}
			w.unrelated = append(w.unrelated, item)
			return true
		})
		return
	}
	if len(w.unrelated) > 0 && len(w.backlog.items) == 0 {
		some := min(len(w.unrelated), w.allowance.remaining())
		if some <= 0 {
			return
		}
		w.allowance.used += some
		w.backlog.items, w.unrelated = slices.Clone(w.unrelated[:some]), w.unrelated[some:]
		if len(w.unrelated) == 0 {
			w.putBack(map[solana.PublicKey]bool{w.Wallet: true})
		}
	}
}

// advanceCursors moves the cursors behind the listed transactions, which are all handled.
func (w *watcher) advanceCursors() {
	w.lock.Lock()
	defer w.lock.Unlock()
	for address, listed := range w.listed {
		if address != w.Wallet || len(w.unrelated) == 0 {
			w.cursors.advance(listed)
		}
	}
	w.listed, w.fetched = nil, nil
	for signature, h := range w.hints {
		if w.backlog.isHandled(signature) || time.Since(h.since) > HintExpiry {
			delete(w.hints, signature)
		}
	}
	if len(w.hints) == 0 {
		w.hints = nil
	}
	if len(w.backlog.handled) > handledKept {
		w.forget()
	}
}

// forget drops the handled transactions that no list will have again, and that no late hint will report. The
// lock must be held.
func (w *watcher) forget() {
	oldest := uint64(math.MaxUint64)
	for _, at := range w.cursors.all() {
		if _, due := w.due[at.address]; !due {
			w.cursors.skipUnchanged(at)
		}
		oldest = min(oldest, at.complete.slot)
	}
	w.backlog.forget(oldest)
}

// untilNext returns the time until work may be due that no hint reports; zero if none. If nothing waits, it
// also clears waitingSince.
func (w *watcher) untilNext() time.Duration {
	w.lock.Lock()
	defer w.lock.Unlock()
	var pause time.Duration
	sooner := func(other time.Duration) {
		if pause == 0 || other < pause {
			pause = other
		}
	}
	waiting := len(w.due) > 0 || len(w.unrelated) > 0
	for _, h := range w.hints {
		// A transaction that is not new may be listed late, behind the cursor.
		w.addDue(h.address, true)
		age := time.Since(h.since)
		if age < hintPollLimit {
			waiting = true
			sooner(min(max(age, firstRecheck), lastRecheck))
		} else {
			sooner(RecheckEvery)
		}
	}
	if w.postponed {
		w.postponed = false
		waiting = true
		sooner(recheckSoon)
	}
	if len(w.unrelated) > 0 {
		sooner(unrelatedPause)
	}
	if w.incomplete {
		sooner(discoverEvery)
	}
	if !waiting {
		w.waitingSince = time.Time{}
	}
	return pause
}
