package haggle

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
)

// hear handles transactions that the connection tells of. They may not be in the chain, yet or ever.
func (w *watcher) hear(ctx context.Context, signatures []solana.Signature) error {
	for _, signature := range signatures {
		if _, seen := w.seen[signature]; seen {
			continue
		}
		details, err := w.client.executed(ctx, signature, hintLimit)
		if errors.Is(err, errNoDetails) {
			w.doubtful[signature] = time.Now().Add(doubtLimit)
			continue
		}
		if err == nil {
			err = w.handle(ctx, signature, details)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *watcher) resolveDoubts(ctx context.Context) error {
	for signature, end := range w.doubtful {
		details, err := w.client.lookUp(ctx, signature)
		if err != nil {
			return err
		}
		if details != nil {
			err = w.handle(ctx, signature, details)
		}
		if details != nil || time.Now().After(end) {
			delete(w.doubtful, signature)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// catchUp fetches what has happened at the watched addresses since their marks, and moves the marks.
func (w *watcher) catchUp(ctx context.Context) error {
	head, err := w.client.rpc.GetSlot(ctx, w.client.commitment)
	if err != nil {
		return err
	}
	if err := w.complete(ctx); err != nil {
		return err
	}
	w.fresh = nil // they are among the watched
	listed := make(map[*watchedAddress][]entry)
	var all []entry
	// The agent comes last: of several transactions in one slot, a negotiation's own history knows the order.
	for _, watched := range w.agentLast() {
		entries, err := w.client.since(ctx, watched.address, watched.known)
		if err != nil {
			return err
		}
		listed[watched] = entries
		all = append(all, entries...)
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Compare(a.slot, b.slot) })
	for _, item := range all {
		if err := w.fetch(ctx, item); err != nil {
			return err
		}
	}
	for watched, entries := range listed {
		watched.known = watched.known.advance(entries, head)
	}
	// What waits may be what has just been handled, or what another subscription has told of: it must not be forgotten before.
	if err := w.hear(ctx, w.stream.take()); err != nil {
		return err
	}
	w.forget()
	return nil
}

// fetch handles a transaction that is known from a list.
func (w *watcher) fetch(ctx context.Context, item entry) error {
	if _, seen := w.seen[item.signature]; seen || item.failed {
		return nil
	}
	details, err := w.client.executed(ctx, item.signature, detailsLimit)
	if errors.Is(err, errNoDetails) {
		w.seen[item.signature] = item.slot
		return w.tellUnclear(ctx, item.signature, item.slot)
	}
	if err != nil {
		return err
	}
	return w.handle(ctx, item.signature, details)
}

// catchUpFresh fetches what has happened to negotiations that have just been added, before they were listened to.
func (w *watcher) catchUpFresh(ctx context.Context) error {
	for len(w.fresh) > 0 && w.stream != nil {
		watched := w.fresh[0]
		w.fresh = w.fresh[1:]
		entries, err := w.client.since(ctx, watched.address, watched.known)
		if err != nil {
			return err
		}
		for _, item := range entries {
			if err := w.fetch(ctx, item); err != nil {
				return err
			}
		}
	}
	return nil
}

// forget drops the transactions that no list since the marks will have again, and that no late notification will tell of.
func (w *watcher) forget() {
	if len(w.watched) == 0 {
		return
	}
	oldest := w.watched[0].known.slot
	for _, watched := range w.watched {
		oldest = min(oldest, watched.known.slot)
	}
	for signature, slot := range w.seen {
		if slot+lateSlots < oldest {
			delete(w.seen, signature)
		}
	}
}

// handle tells the events of a transaction that is in the chain, unless that has been done. Whatever else fails meanwhile, it tells
// all of them, because it never does so again.
func (w *watcher) handle(ctx context.Context, signature solana.Signature, details *rpc.GetTransactionResult) error {
	if _, seen := w.seen[signature]; seen {
		return nil
	}
	w.seen[signature] = details.Slot
	if details.Meta.Err != nil {
		return nil
	}
	events, unclear := ParseLogs(details.Meta.LogMessages)
	var failed error
	for _, event := range events {
		failed = errors.Join(failed, w.handleEvent(ctx, mark{signature: signature, slot: details.Slot}, event))
	}
	if unclear != nil && mentionsProgram(details) {
		failed = errors.Join(failed, w.tellUnclear(ctx, signature, details.Slot))
	}
	if failed != nil {
		return failed
	}
	return w.catchUpFresh(ctx)
}

func (w *watcher) handleEvent(ctx context.Context, at mark, event Event) error {
	negotiation, ok := event.NegotiationAddress()
	if !ok {
		return nil
	}
	var failed error
	created, isCreated := event.(*NegotiationCreated)
	if isCreated && !w.agent.IsZero() && (created.Buyer == w.agent || created.Seller == w.agent) {
		failed = w.follow(ctx, negotiation, at)
	}
	if negotiation == w.agent || w.find(negotiation) == nil {
		return failed
	}
	seen := Observation{Signature: at.signature, Slot: at.slot, Negotiation: negotiation, Event: event}
	failed = errors.Join(failed, w.tell(ctx, seen))
	if _, isClosed := event.(*NegotiationClosed); isClosed && !w.agent.IsZero() {
		failed = errors.Join(failed, w.unfollow(negotiation))
	}
	return failed
}

// tellUnclear tells that there may be more than can be told, and looks for negotiations that may have been created there.
func (w *watcher) tellUnclear(ctx context.Context, signature solana.Signature, slot uint64) error {
	seen := Observation{Signature: signature, Slot: slot, Negotiation: w.fixed, Truncated: true}
	if err := w.tell(ctx, seen); err != nil {
		return err
	}
	w.incomplete = !w.agent.IsZero()
	return w.complete(ctx)
}

// complete looks for negotiations whose creation has not been told, if there may be any.
func (w *watcher) complete(ctx context.Context) error {
	if !w.incomplete {
		return nil
	}
	err := w.discover(ctx, func(context.Context, solana.PublicKey) (mark, error) { return mark{}, nil })
	w.incomplete = err != nil
	return err
}

func (w *watcher) tell(ctx context.Context, seen Observation) error {
	select {
	case w.subscription.events <- seen:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
