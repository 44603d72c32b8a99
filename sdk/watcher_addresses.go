package haggle

import (
	"context"
	"errors"

	"github.com/gagliardetto/solana-go"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// positionsAtOnce is how many addresses the node is asked about at once.
const positionsAtOnce = 16

// begin finds out what is to be watched, and from where. When it returns, the stream tells of all of it.
func (w *watcher) begin(ctx context.Context) error {
	address, wallet := w.fixed, false
	if !w.agent.IsZero() {
		address, wallet = w.agent, true
	}
	var from position
	if !w.start.after.IsZero() {
		var err error
		if from, err = w.client.positionOf(ctx, w.start.after); err != nil {
			return err
		}
	}
	if err := w.listenTo(ctx, wallet, address); err != nil {
		return err
	}
	if err := w.beginAt(ctx, from, address); err != nil || !wallet {
		return err
	}
	// The agent's mark comes before the list of its negotiations: what is created in between is in both.
	negotiations, err := w.negotiations(ctx)
	if err != nil {
		return err
	}
	if err := w.listenTo(ctx, false, negotiations...); err != nil {
		return err
	}
	return w.beginAt(ctx, from, negotiations...)
}

// listenTo returns when the stream tells of the addresses.
func (w *watcher) listenTo(ctx context.Context, wallet bool, addresses ...solana.PublicKey) error {
	w.asked = addresses
	told, err := w.stream.attach(w, wallet, addresses...)
	if err != nil {
		return err
	}
	for range addresses {
		select {
		case err := <-told:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// beginAt watches addresses that the stream tells of from where the subscription begins. If that is now, nothing has been missed.
func (w *watcher) beginAt(ctx context.Context, from position, addresses ...solana.PublicKey) error {
	if w.start.beginning || !w.start.after.IsZero() {
		for _, address := range addresses {
			w.cursors.add(&cursor{address: address, complete: from})
			w.refresh(address)
		}
		return nil
	}
	now, err := w.stream.reached(ctx)
	if err != nil {
		return err
	}
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(positionsAtOnce)
	for _, address := range addresses {
		reading.Go(func() error {
			newest, err := w.client.newest(ctx, address, now)
			w.cursors.add(&cursor{address: address, complete: newest, listedAt: now})
			return err
		})
	}
	return reading.Wait()
}

// negotiations are the agent's that are not watched yet.
func (w *watcher) negotiations(ctx context.Context) ([]solana.PublicKey, error) {
	var found []solana.PublicKey
	for negotiation, err := range w.client.FindNegotiations(ctx, Filter{Agent: w.agent}) {
		var undecodable *protocol.DecodeError
		if errors.As(err, &undecodable) {
			continue // of a later version
		}
		if err != nil {
			return nil, err
		}
		if w.cursors.at(negotiation.Address) == nil {
			found = append(found, negotiation.Address)
		}
	}
	return found, nil
}

// follow watches a negotiation from a mark on.
func (w *watcher) follow(address solana.PublicKey, from position) error {
	if at := w.cursors.at(address); at != nil {
		// It was listed when it had just been created; its history begins before that.
		if from.slot <= at.complete.slot && from.signature != at.complete.signature {
			at.complete = from
			w.fresh = append(w.fresh, address)
		}
		return nil
	}
	w.cursors.add(&cursor{address: address, complete: from})
	// What is listed now is told in its order among the rest; what happens until the stream tells of it, then.
	w.fresh = append(w.fresh, address)
	return w.stream.attachLater(w, address)
}

// unfollow forgets a negotiation that has been closed.
func (w *watcher) unfollow(address solana.PublicKey) {
	if w.cursors.at(address) == nil {
		return
	}
	w.stream.detach(w, address)
	w.cursors.remove(address)
	w.lock.Lock()
	defer w.lock.Unlock()
	delete(w.due, address)
}

// leave ends that anything is watched.
func (w *watcher) leave() {
	var addresses []solana.PublicKey
	for _, at := range w.cursors.all() {
		addresses = append(addresses, at.address)
	}
	// Those that the stream was asked for when the beginning failed.
	addresses = append(addresses, w.asked...)
	w.stream.detach(w, addresses...)
	w.lock.Lock()
	defer w.lock.Unlock()
	w.left = true
	if w.timer != nil {
		w.timer.Stop()
	}
}
