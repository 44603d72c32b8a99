package feed

import (
	"context"
	"slices"

	"github.com/gagliardetto/solana-go"
	"golang.org/x/sync/errgroup"
)

// positionsAtOnce limits the concurrent requests for positions.
const positionsAtOnce = 16

// begin subscribes to the addresses and sets their cursors. When it returns, the stream is subscribed to all
// addresses.
func (w *watcher) begin(ctx context.Context) error {
	address, wallet := w.Account, false
	if !w.Wallet.IsZero() {
		address, wallet = w.Wallet, true
	}
	var from position
	if !w.After.IsZero() {
		var err error
		if from, err = w.feed.positionOf(ctx, w.After); err != nil {
			return err
		}
	}
	if err := w.listenTo(ctx, wallet, address); err != nil {
		return err
	}
	if err := w.beginAt(ctx, from, address); err != nil || !wallet {
		return err
	}
	// The wallet's cursor is set before the accounts are listed, so an account that is created in between is
	// in both.
	found, err := w.newAccounts(ctx)
	if err != nil {
		return err
	}
	if err := w.listenTo(ctx, false, found...); err != nil {
		return err
	}
	return w.beginAt(ctx, from, found...)
}

// listenTo returns once the stream is subscribed to the addresses.
func (w *watcher) listenTo(ctx context.Context, wallet bool, addresses ...solana.PublicKey) error {
	w.requested = addresses
	result, err := w.feed.attach(w, wallet, addresses...)
	if err != nil {
		return err
	}
	for range addresses {
		select {
		case err := <-result:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// beginAt sets the cursors of subscribed addresses to the start of the subscription. If that is now, no event
// can be missing.
func (w *watcher) beginAt(ctx context.Context, from position, addresses ...solana.PublicKey) error {
	if w.Beginning || !w.After.IsZero() {
		for _, address := range addresses {
			w.cursors.add(&cursor{address: address, complete: from})
			w.refresh(address)
		}
		return nil
	}
	now, err := w.feed.reached(ctx)
	if err != nil {
		return err
	}
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(positionsAtOnce)
	for _, address := range addresses {
		reading.Go(func() error {
			newest, err := w.feed.endOf(ctx, address, now)
			w.cursors.add(&cursor{address: address, complete: newest, listedAt: now})
			return err
		})
	}
	return reading.Wait()
}

// newAccounts returns the wallet's accounts that are not watched yet.
func (w *watcher) newAccounts(ctx context.Context) ([]solana.PublicKey, error) {
	found, err := w.feed.Accounts(ctx, w.Wallet)
	return slices.DeleteFunc(found, func(a solana.PublicKey) bool { return w.cursors.at(a) != nil }), err
}

// follow watches an account from a position on.
func (w *watcher) follow(address solana.PublicKey, from position) error {
	if at := w.cursors.at(address); at != nil {
		// It was listed just after the creation; the history begins before that.
		if from.slot <= at.complete.slot && from.signature != at.complete.signature {
			at.complete = from
			w.fresh = append(w.fresh, address)
		}
		return nil
	}
	w.cursors.add(&cursor{address: address, complete: from})
	// The transactions that are listed now are delivered in order with the others; later transactions are
	// listed again once the stream is subscribed.
	w.fresh = append(w.fresh, address)
	return w.feed.attachAndRefresh(w, address)
}

// unfollow stops watching a closed account.
func (w *watcher) unfollow(address solana.PublicKey) {
	w.feed.detach(w, address)
	w.cursors.remove(address)
	w.lock.Lock()
	defer w.lock.Unlock()
	delete(w.due, address)
}

// detach unsubscribes from all addresses and stops the timer.
func (w *watcher) detach() {
	var addresses []solana.PublicKey
	for _, at := range w.cursors.all() {
		addresses = append(addresses, at.address)
	}
	// If begin failed, the addresses of the last call of listenTo have no cursors.
	addresses = append(addresses, w.requested...)
	w.feed.detach(w, addresses...)
	w.lock.Lock()
	defer w.lock.Unlock()
	w.detached = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
