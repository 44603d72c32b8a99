package feed

import (
	"context"

	"github.com/gagliardetto/solana-go"
)

// Watch describes a subscription.
type Watch struct {
	// Either Account is the watched account of the program, or Wallet is the wallet whose accounts are
	// watched.
	Account, Wallet solana.PublicKey
	// Beginning makes the subscription begin with the first transaction, otherwise it begins after the
	// transaction After, or now if that is zero.
	Beginning bool
	After     solana.Signature
	// Deliver passes an event to the listener. It returns false if the context ends before.
	Deliver func(ctx context.Context, delivery Delivery) bool
	// Ended is called once the subscription ended.
	Ended func()
}

// Watch subscribes to the events of an account, or of a wallet's accounts. When it returns, no later event is
// missed.
func (f *Feed) Watch(ctx context.Context, watch Watch) (*Subscription, error) {
	w := &watcher{feed: f, Watch: watch, retry: newReconnection(), backlog: backlog{feed: f}}
	subscription, err := newSubscription(ctx, w)
	if err != nil {
		return nil, err
	}
	// Before the setup is complete no worker may run the watcher, and finish waits.
	w.scheduled = true
	err = context.Cause(subscription.ctx)
	if subscription.enter() {
		err = w.begin(subscription.ctx)
		subscription.running.Done()
	}
	if err != nil {
		subscription.cancel(errSubscriptionClosed)
		<-subscription.done
		return nil, err
	}
	f.schedule(w)
	return subscription, nil
}
