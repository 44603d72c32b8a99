package haggle

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// listing is what the node has listed at an address, when it had reached the slot head.
type listing struct {
	watched *cursor
	entries []entry
	head    uint64
	// all says that it goes back to the mark, not only to the last transaction that has been handled.
	all bool
}

// queued is a transaction to handle, and the lists that it is in.
type queued struct {
	entry
	lists []*listing
}

// gather lists what there is to handle, after what has been handled before has been noted. It returns when to come again if that is
// nothing.
func (w *watcher) gather(ctx context.Context) (time.Duration, error) {
	w.advanceCursors()
	if err := w.complete(ctx); err != nil {
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
		if err == nil && w.watched[address] != nil {
			err = w.list(ctx, address, all)
		}
	}
	if err == nil {
		err = w.lookUpHinted(ctx)
	}
	if err == nil {
		err = w.order(ctx)
	}
	if err != nil {
		w.backlog, w.listed = nil, nil
		w.putBack(due)
		return 0, err
	}
	w.limitUnrelated()
	if len(w.backlog) > 0 {
		return 0, nil
	}
	w.advanceCursors()
	return w.untilNext(), nil
}

// recheckSoon is how long after a node has not ordered the newest transactions it is asked again.
const recheckSoon = 50 * time.Millisecond

func (w *watcher) takeDue() map[solana.PublicKey]bool {
	w.lock.Lock()
	defer w.lock.Unlock()
	due := make(map[solana.PublicKey]bool, len(w.due))
	for address, all := range w.due {
		// An agent's address is listed again when what was found there has been fetched.
		if w.watched[address] != nil && (address != w.agent || len(w.unrelated) == 0) {
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

// list adds what has happened at an address to the backlog.
func (w *watcher) list(ctx context.Context, address solana.PublicKey, all bool) error {
	head, err := w.stream.reached(ctx)
	if err != nil {
		return err
	}
	watched := w.watched[address]
	from := watched.latest
	if all = all || from.signature.IsZero(); all {
		from = watched.known
	}
	entries, err := w.client.since(ctx, address, from, head)
	if errors.Is(err, ErrHistoryTooLong) && address == w.agent {
		return w.skipUnrelated(ctx, head)
	}
	if err != nil {
		return err
	}
	listed := &listing{watched: watched, entries: entries, head: head, all: all}
	w.listed[address] = listed
	waiting := make(map[solana.Signature]*queued, len(w.backlog))
	for _, item := range w.backlog {
		waiting[item.signature] = item
	}
	for _, item := range entries {
		if _, seen := w.seen[item.signature]; seen {
			continue
		}
		if item.failed || w.stream.isUnrelated(item) {
			w.seen[item.signature] = item.slot
			continue
		}
		if known := waiting[item.signature]; known != nil {
			known.lists = append(known.lists, listed)
			continue
		}
		w.backlog = append(w.backlog, &queued{entry: item, lists: []*listing{listed}})
	}
	return nil
}

// skipStrangers gives up a list of transactions that mention the agent and are far too many to be its own. Its negotiations are found
// otherwise, and the listener is told that there may have been more.
func (w *watcher) skipUnrelated(ctx context.Context, head uint64) error {
	newest, err := w.client.newest(ctx, w.agent, head)
	if err != nil {
		return err
	}
	w.watched[w.agent].known = newest
	w.deliverTruncated(newest.signature, newest.slot)
	return nil
}

// listFresh adds what has happened to negotiations that have just been found.
func (w *watcher) listFresh(ctx context.Context) error {
	if len(w.fresh) == 0 {
		return nil
	}
	for len(w.fresh) > 0 {
		if w.watched[w.fresh[0]] != nil {
			if err := w.list(ctx, w.fresh[0], true); err != nil {
				return err
			}
		}
		w.fresh = w.fresh[1:]
	}
	return w.order(ctx)
}

// lookUpHinted adds transactions to the backlog that the stream has told of because they mention the agent, if they are in a block,
// while its address is not listed because too many others are there.
func (w *watcher) lookUpHinted(ctx context.Context) error {
	if len(w.unrelated) == 0 {
		return nil
	}
	w.lock.Lock()
	var hinted []solana.Signature
	for signature, told := range w.hints {
		if told.wallet {
			hinted = append(hinted, signature)
		}
	}
	w.lock.Unlock()
	for _, signature := range hinted {
		if _, seen := w.seen[signature]; seen || w.allowance.left() <= 0 ||
			slices.ContainsFunc(w.backlog, func(item *queued) bool { return item.signature == signature }) {
			continue
		}
		details, err := w.client.lookUp(ctx, signature)
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
		w.backlog = append(w.backlog, &queued{entry: entry{signature: signature, slot: details.Slot}})
	}
	return nil
}

// order sorts the backlog by slot, and by position in the block. Transactions that the node has not put into an order yet are taken
// out, to be listed again a little later.
func (w *watcher) order(ctx context.Context) error {
	slices.SortStableFunc(w.backlog, func(a, b *queued) int { return cmp.Compare(a.slot, b.slot) })
	for first := 0; first < len(w.backlog); {
		next := first + 1
		for next < len(w.backlog) && w.backlog[next].slot == w.backlog[first].slot {
			next++
		}
		same := w.backlog[first:next]
		if len(same) > 1 && slices.ContainsFunc(same, func(item *queued) bool { return item.processed }) {
			w.postpone(first)
			return nil
		}
		if err := w.orderSlot(ctx, same); err != nil {
			return err
		}
		first = next
	}
	return nil
}

// postpone leaves the end of the backlog for later.
func (w *watcher) postpone(first int) {
	again := make(map[solana.PublicKey]bool)
	for _, item := range w.backlog[first:] {
		for _, listed := range item.lists {
			again[listed.watched.address] = true
		}
	}
	w.backlog = w.backlog[:first]
	w.postponed = true
	w.putBack(again)
}

// orderSlot sorts transactions of one slot: as a list has them that has all of them, otherwise as the block has them.
func (w *watcher) orderSlot(ctx context.Context, items []*queued) error {
	if len(items) == 1 {
		return nil
	}
	positions := commonList(items)
	if positions == nil {
		var err error
		if positions, err = w.client.blockPositions(ctx, items[0].slot); err != nil {
			return err
		}
	}
	slices.SortStableFunc(items, func(a, b *queued) int { return cmp.Compare(positions[a.signature], positions[b.signature]) })
	return nil
}

// commonList is where transactions of one slot are in a list that has all of them; nil if there is none.
func commonList(items []*queued) map[solana.Signature]int {
	for _, candidate := range items[0].lists {
		if slices.ContainsFunc(items, func(item *queued) bool { return !slices.Contains(item.lists, candidate) }) {
			continue
		}
		positions := make(map[solana.Signature]int, len(items))
		at, _ := slices.BinarySearchFunc(candidate.entries, items[0].slot, func(e entry, slot uint64) int { return cmp.Compare(e.slot, slot) })
		for ; at < len(candidate.entries) && candidate.entries[at].slot == items[0].slot; at++ {
			positions[candidate.entries[at].signature] = at
		}
		return positions
	}
	return nil
}

// limitStrangers takes transactions out of the backlog that only mention the agent, if there are more than may be fetched at once,
// and puts some of those back that have been taken out before.
func (w *watcher) limitUnrelated() {
	wallet := w.listed[w.agent]
	if wallet != nil {
		left := w.allowance.left()
		w.backlog = slices.DeleteFunc(w.backlog, func(item *queued) bool {
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
	if len(w.unrelated) > 0 && len(w.backlog) == 0 {
		some := min(len(w.unrelated), w.allowance.left())
		if some <= 0 {
			return
		}
		w.allowance.used += some
		w.backlog, w.unrelated = slices.Clone(w.unrelated[:some]), w.unrelated[some:]
		if len(w.unrelated) == 0 {
			w.putBack(map[solana.PublicKey]bool{w.agent: true})
		}
	}
}

// handleNext handles the first transaction of the backlog, or adds to the backlog what has to be handled before it.
func (w *watcher) handleNext(ctx context.Context) error {
	item := w.backlog[0]
	if _, seen := w.seen[item.signature]; seen {
		w.backlog = w.backlog[1:]
		return nil
	}
	details := w.fetched[item.signature]
	if details == nil {
		var err error
		details, err = w.client.executed(ctx, item.signature, detailsLimit)
		if errors.Is(err, errNoDetails) {
			w.backlog = w.backlog[1:]
			w.seen[item.signature] = item.slot
			w.deliverTruncated(item.signature, item.slot)
			return nil
		}
		if err != nil {
			return err
		}
	}
	events, unclear := protocol.ParseLogs(details.Meta.LogMessages)
	if details.Meta.Err != nil {
		events, unclear = nil, nil
	}
	if added, err := w.listMentioned(ctx, events); added || err != nil {
		return err
	}
	w.backlog = w.backlog[1:]
	delete(w.fetched, item.signature)
	w.seen[item.signature] = details.Slot
	at := position{signature: item.signature, slot: details.Slot}
	var failed error
	for _, event := range events {
		failed = errors.Join(failed, w.handleEvent(at, event))
	}
	if unclear != nil && mentionsProgram(details) {
		w.deliverTruncated(item.signature, details.Slot)
	}
	return failed
}

// listMentioned lists negotiations that a transaction has events of and that have not been listed, because something else of them
// may have to be told before.
func (w *watcher) listMentioned(ctx context.Context, events []protocol.Event) (added bool, err error) {
	if w.agent.IsZero() {
		return false, nil
	}
	for _, event := range events {
		negotiation, ok := event.NegotiationAddress()
		if !ok || negotiation == w.agent || w.watched[negotiation] == nil || w.listed[negotiation] != nil {
			continue
		}
		if err := w.list(ctx, negotiation, false); err != nil {
			return false, err
		}
		added = true
	}
	if added {
		err = w.order(ctx)
	}
	return added, err
}

func (w *watcher) handleEvent(at position, event protocol.Event) error {
	negotiation, ok := event.NegotiationAddress()
	if !ok {
		return nil
	}
	var failed error
	created, isCreated := event.(*protocol.NegotiationCreated)
	if isCreated && !w.agent.IsZero() && (created.Buyer == w.agent || created.Seller == w.agent) {
		failed = w.follow(negotiation, at)
	}
	watched := w.watched[negotiation]
	if negotiation == w.agent || watched == nil {
		return failed
	}
	w.subscription.deliver(EventEnvelope{
		Signature: at.signature, Slot: at.slot, Negotiation: negotiation, Event: event, Late: at.slot < watched.told,
	})
	watched.told = max(watched.told, at.slot)
	if _, isClosed := event.(*protocol.NegotiationClosed); isClosed && !w.agent.IsZero() {
		w.unfollow(negotiation)
	}
	return failed
}

// tellUnclear tells that there may be more than can be told, and has negotiations looked for that may have been created there.
func (w *watcher) deliverTruncated(signature solana.Signature, slot uint64) {
	w.subscription.deliver(EventEnvelope{Signature: signature, Slot: slot, Negotiation: w.fixed, Truncated: true})
	w.incomplete = !w.agent.IsZero()
}

// complete looks for negotiations whose creation has not been told, if there may be any.
func (w *watcher) complete(ctx context.Context) error {
	if !w.incomplete || time.Since(w.discovered) < discoverEvery {
		return nil
	}
	w.discovered = time.Now()
	negotiations, err := w.negotiations(ctx)
	if err != nil {
		return err
	}
	for _, negotiation := range negotiations {
		err = errors.Join(err, w.follow(negotiation, position{}))
	}
	w.incomplete = err != nil
	return err
}

// settle notes that everything that has been listed has been handled.
func (w *watcher) advanceCursors() {
	swept := w.stream.reconciledUntil()
	w.lock.Lock()
	defer w.lock.Unlock()
	for address, listed := range w.listed {
		if address == w.agent && len(w.unrelated) > 0 {
			continue
		}
		if last := len(listed.entries) - 1; last >= 0 && !listed.entries[last].processed {
			listed.watched.latest = position{signature: listed.entries[last].signature, slot: listed.entries[last].slot}
		}
		if listed.all {
			listed.watched.known = listed.watched.known.advance(listed.entries, listed.head)
			listed.watched.listedAt = listed.head
		}
	}
	w.listed, w.fetched = nil, nil
	for signature, told := range w.hints {
		if _, seen := w.seen[signature]; seen || time.Since(told.since) > doubtLimit {
			delete(w.hints, signature)
		}
	}
	if len(w.hints) == 0 {
		w.hints = nil
	}
	if len(w.seen) > seenKept {
		w.forget(swept)
	}
}

// forget drops the transactions that no list since the marks will have again, and that no late notice will tell of. Nothing has
// happened until the slot swept at addresses that are not due.
func (w *watcher) forget(swept uint64) {
	oldest := uint64(math.MaxUint64)
	for address, watched := range w.watched {
		if _, due := w.due[address]; !due && address != w.agent {
			watched.known.slot = max(watched.known.slot, swept-min(swept, settledSlots))
		}
		oldest = min(oldest, watched.known.slot)
	}
	for signature, slot := range w.seen {
		if slot+lateSlots < oldest {
			delete(w.seen, signature)
		}
	}
}

// untilNext is when there may be something to do of which nobody tells; zero if there is nothing. If nothing is left that waits, it
// notes that too.
func (w *watcher) untilNext() time.Duration {
	w.lock.Lock()
	defer w.lock.Unlock()
	var pause time.Duration
	sooner := func(other time.Duration) {
		if pause == 0 || other < pause {
			pause = other
		}
	}
	waits := len(w.due) > 0 || len(w.unrelated) > 0
	for _, told := range w.hints {
		// What is not new may have been listed late.
		w.addDue(told.address, true)
		age := time.Since(told.since)
		if age < hintLimit {
			waits = true
			sooner(min(max(age, firstPoll), lastPoll))
		} else {
			sooner(recheckEvery)
		}
	}
	if w.postponed {
		w.postponed = false
		waits = true
		sooner(recheckSoon)
	}
	if len(w.unrelated) > 0 {
		sooner(unrelatedPause)
	}
	if w.incomplete {
		sooner(discoverEvery)
	}
	if !waits {
		w.waitingSince = time.Time{}
	}
	return pause
}
