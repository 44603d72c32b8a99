package haggle

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/gagliardetto/solana-go"
)

type watchedAddress struct {
	address solana.PublicKey
	// known is how far everything has been handled.
	known mark
	// subscription is the connection's number for it.
	subscription uint64
}

func (w *watcher) startMark(ctx context.Context, address solana.PublicKey) (mark, error) {
	switch {
	case w.start.beginning:
		return mark{}, nil
	case !w.start.after.IsZero():
		return w.client.markAt(ctx, w.start.after)
	default:
		return w.client.newest(ctx, address)
	}
}

// discover watches the agent's negotiations that are not watched yet, each from its mark.
func (w *watcher) discover(ctx context.Context, markOf func(context.Context, solana.PublicKey) (mark, error)) error {
	for negotiation, err := range w.client.FindNegotiations(ctx, Filter{Agent: w.agent}) {
		var undecodable *DecodeError
		if errors.As(err, &undecodable) {
			continue // of a later version
		}
		if err != nil {
			return err
		}
		if w.find(negotiation.Address) != nil {
			continue
		}
		from, err := markOf(ctx, negotiation.Address)
		if err != nil {
			return err
		}
		if err := w.follow(ctx, negotiation.Address, from); err != nil {
			return err
		}
	}
	return nil
}

func (w *watcher) find(address solana.PublicKey) *watchedAddress {
	for _, watched := range w.watched {
		if watched.address == address {
			return watched
		}
	}
	return nil
}

// follow watches a negotiation from a mark on.
func (w *watcher) follow(ctx context.Context, address solana.PublicKey, from mark) error {
	if watched := w.find(address); watched != nil {
		// It was listed when it had just been created; its history begins before that.
		if from.slot <= watched.known.slot && from.signature != watched.known.signature {
			watched.known = from
			w.fresh = append(w.fresh, watched)
		}
		return nil
	}
	watched := &watchedAddress{address: address, known: from}
	w.watched = append(w.watched, watched)
	w.fresh = append(w.fresh, watched)
	if w.stream == nil {
		return nil
	}
	var err error
	watched.subscription, err = w.stream.subscribe(ctx, address)
	return err
}

// unfollow forgets a negotiation that has been closed.
func (w *watcher) unfollow(address solana.PublicKey) error {
	is := func(watched *watchedAddress) bool { return watched.address == address }
	watched := w.find(address)
	w.watched = slices.DeleteFunc(w.watched, is)
	w.fresh = slices.DeleteFunc(w.fresh, is)
	if watched == nil || w.stream == nil {
		return nil
	}
	return w.stream.unsubscribe(watched.subscription)
}

func (w *watcher) agentLast() []*watchedAddress {
	sorted := slices.Clone(w.watched)
	slices.SortStableFunc(sorted, func(a, b *watchedAddress) int {
		return cmp.Compare(rankOf(a.address == w.agent), rankOf(b.address == w.agent))
	})
	return sorted
}

func rankOf(last bool) int {
	if last {
		return 1
	}
	return 0
}
