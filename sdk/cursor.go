package haggle

import (
	"context"
	"errors"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// marksAtOnce is how many of an agent's negotiations the node is asked about at once.
const positionsAtOnce = 16

type cursor struct {
	address solana.PublicKey
	// known is how far everything has been handled.
	known position
	// latest is the last transaction that has been handled. Something before it may still be missing.
	latest position
	// told is the slot of the last event of it that has been told.
	told uint64
	// listedAt is a slot that the node had reached when everything until then had been handled. The patrol reads it.
	listedAt uint64
}

// begin finds out what is to be watched, and from where. When it returns, the stream tells of all of it.
func (w *watcher) begin(ctx context.Context) error {
	w.watched = make(map[solana.PublicKey]*cursor)
	w.seen = make(map[solana.Signature]uint64)
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
			w.add(&cursor{address: address, known: from})
			w.refresh(address)
		}
		return nil
	}
	now, err := w.stream.reached(ctx)
	if err != nil {
		return err
	}
	var group sync.WaitGroup
	var lock sync.Mutex
	var failed error
	next := make(chan solana.PublicKey)
	for range min(positionsAtOnce, len(addresses)) {
		group.Go(func() {
			for address := range next {
				known, err := w.client.newest(ctx, address, now)
				w.add(&cursor{address: address, known: known, listedAt: now})
				lock.Lock()
				failed = errors.Join(failed, err)
				lock.Unlock()
			}
		})
	}
	for _, address := range addresses {
		lock.Lock()
		enough := failed != nil
		lock.Unlock()
		if enough {
			break
		}
		next <- address
	}
	close(next)
	group.Wait()
	return failed
}

func (w *watcher) add(watched *cursor) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.watched[watched.address] = watched
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
		if w.watched[negotiation.Address] == nil {
			found = append(found, negotiation.Address)
		}
	}
	return found, nil
}

// follow watches a negotiation from a mark on.
func (w *watcher) follow(address solana.PublicKey, from position) error {
	if watched := w.watched[address]; watched != nil {
		// It was listed when it had just been created; its history begins before that.
		if from.slot <= watched.known.slot && from.signature != watched.known.signature {
			watched.known = from
			w.fresh = append(w.fresh, address)
		}
		return nil
	}
	w.add(&cursor{address: address, known: from})
	// What is listed now is told in its order among the rest; what happens until the stream tells of it, then.
	w.fresh = append(w.fresh, address)
	return w.stream.attachLater(w, address)
}

// unfollow forgets a negotiation that has been closed.
func (w *watcher) unfollow(address solana.PublicKey) {
	if w.watched[address] == nil {
		return
	}
	w.stream.detach(w, address)
	w.lock.Lock()
	defer w.lock.Unlock()
	delete(w.watched, address)
	delete(w.due, address)
}

// leave ends that anything is watched.
func (w *watcher) leave() {
	addresses := make([]solana.PublicKey, 0, len(w.watched)+1)
	for address := range w.watched {
		addresses = append(addresses, address)
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
