package feed

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
)

// handleNext handles the first transaction of the backlog, or adds transactions that must be handled earlier.
func (w *watcher) handleNext(ctx context.Context) error {
	item := w.backlog.items[0]
	if w.backlog.isHandled(item.Signature) {
		w.backlog.items = w.backlog.items[1:]
		return nil
	}
	details := w.fetched[item.Signature]
	if details == nil {
		var err error
		if details, err = w.feed.Transaction(ctx, item.Signature, true); err != nil {
			return err
		}
		if details == nil {
			w.backlog.items = w.backlog.items[1:]
			w.backlog.setHandled(item.Signature, item.Slot)
			w.deliverTruncated(item.Signature, item.Slot)
			return nil
		}
	}
	events, truncated := w.feed.decode(details)
	if added, err := w.listMentioned(ctx, item, events); added || err != nil {
		return err
	}
	w.backlog.items = w.backlog.items[1:]
	delete(w.fetched, item.Signature)
	w.backlog.setHandled(item.Signature, details.Slot)
	executed := position{signature: item.Signature, slot: details.Slot}
	var failed error
	for _, event := range events {
		failed = errors.Join(failed, w.handleEvent(executed, event))
	}
	if truncated {
		w.deliverTruncated(item.Signature, details.Slot)
	}
	return failed
}

// listMentioned lists accounts concerned by a transaction's events, because an earlier transaction of theirs
// may have to be delivered first. It skips accounts whose list reaches the transaction.
func (w *watcher) listMentioned(ctx context.Context, item *queued, events []Event) (added bool, err error) {
	if w.Wallet.IsZero() {
		return false, nil
	}
	for _, event := range events {
		account := event.Account
		listed := w.listed[account]
		if account == w.Wallet || w.cursors.at(account) == nil || listed != nil && listed.reaches(item) {
			continue
		}
		if err := w.list(ctx, account, listed != nil && listed.all, item.Slot); err != nil {
			return false, err
		}
		added = true
	}
	if added {
		err = w.order(ctx)
	}
	return added, err
}

func (w *watcher) handleEvent(from position, event Event) error {
	account := event.Account
	var failed error
	if !w.Wallet.IsZero() && slices.Contains(event.Creates, w.Wallet) {
		failed = w.follow(account, from)
	}
	at := w.cursors.at(account)
	if account == w.Wallet || at == nil {
		return failed
	}
	w.subscription.deliver(Delivery{
		Signature: from.signature, Slot: from.slot, Account: account, Event: event.Value,
		Late: from.slot < at.delivered,
	})
	at.delivered = max(at.delivered, from.slot)
	if event.Closes && !w.Wallet.IsZero() {
		w.unfollow(account)
	}
	return failed
}

// deliverTruncated reports that a transaction may contain further events, and makes the watcher search for
// accounts that it may have created.
func (w *watcher) deliverTruncated(signature solana.Signature, slot uint64) {
	w.subscription.deliver(Delivery{Signature: signature, Slot: slot, Account: w.Account, Truncated: true})
	w.incomplete = !w.Wallet.IsZero()
}

// discover lists the wallet's accounts if an account's creation may be missed.
func (w *watcher) discover(ctx context.Context) error {
	if !w.incomplete || time.Since(w.discovered) < discoverEvery {
		return nil
	}
	w.discovered = time.Now()
	found, err := w.newAccounts(ctx)
	if err != nil {
		return err
	}
	for _, account := range found {
		err = errors.Join(err, w.follow(account, position{}))
	}
	w.incomplete = err != nil
	return err
}
