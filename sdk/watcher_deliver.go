package haggle

import (
	"context"
	"errors"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// handleNext handles the first transaction of the backlog, or adds transactions that have to be handled
// before it.
func (w *watcher) handleNext(ctx context.Context) error {
	item := w.backlog.items[0]
	if w.backlog.isHandled(item.signature) {
		w.backlog.items = w.backlog.items[1:]
		return nil
	}
	details := w.fetched[item.signature]
	if details == nil {
		var err error
		details, err = w.client.executed(ctx, item.signature, detailsLimit)
		if errors.Is(err, errNoDetails) {
			w.backlog.items = w.backlog.items[1:]
			w.backlog.setHandled(item.signature, item.slot)
			w.deliverTruncated(item.signature, item.slot)
			return nil
		}
		if err != nil {
			return err
		}
	}
	events, truncated := protocol.ParseLogs(details.Meta.LogMessages)
	if details.Meta.Err != nil {
		events, truncated = nil, nil
	}
	if added, err := w.listMentioned(ctx, events); added || err != nil {
		return err
	}
	w.backlog.items = w.backlog.items[1:]
	delete(w.fetched, item.signature)
	w.backlog.setHandled(item.signature, details.Slot)
	executed := position{signature: item.signature, slot: details.Slot}
	var failed error
	for _, event := range events {
		failed = errors.Join(failed, w.handleEvent(executed, event))
	}
	if truncated != nil && mentionsProgram(details) {
		w.deliverTruncated(item.signature, details.Slot)
	}
	return failed
}

// listMentioned lists negotiations that a transaction has events of and that have not been listed, because an
// earlier transaction of theirs may have to be delivered first.
func (w *watcher) listMentioned(ctx context.Context, events []protocol.Event) (added bool, err error) {
	if w.agent.IsZero() {
		return false, nil
	}
	for _, event := range events {
		negotiation, ok := event.NegotiationAddress()
		if !ok || negotiation == w.agent || w.cursors.at(negotiation) == nil || w.listed[negotiation] != nil {
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

func (w *watcher) handleEvent(from position, event protocol.Event) error {
	negotiation, ok := event.NegotiationAddress()
	if !ok {
		return nil
	}
	var failed error
	created, isCreated := event.(*protocol.NegotiationCreated)
	if isCreated && !w.agent.IsZero() && (created.Buyer == w.agent || created.Seller == w.agent) {
		failed = w.follow(negotiation, from)
	}
	at := w.cursors.at(negotiation)
	if negotiation == w.agent || at == nil {
		return failed
	}
	w.subscription.deliver(EventEnvelope{
		Signature: from.signature, Slot: from.slot, Negotiation: negotiation, Event: event,
		Late: from.slot < at.delivered,
	})
	at.delivered = max(at.delivered, from.slot)
	if _, isClosed := event.(*protocol.NegotiationClosed); isClosed && !w.agent.IsZero() {
		w.unfollow(negotiation)
	}
	return failed
}

// deliverTruncated reports that a transaction may have further events, and makes the watcher search for
// negotiations that it may have created.
func (w *watcher) deliverTruncated(signature solana.Signature, slot uint64) {
	w.subscription.deliver(EventEnvelope{Signature: signature, Slot: slot, Negotiation: w.fixed,
		Truncated: true})
	w.incomplete = !w.agent.IsZero()
}

// discover lists the agent's negotiations if the creation of one may have been missed.
func (w *watcher) discover(ctx context.Context) error {
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
