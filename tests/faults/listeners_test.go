package faults_test

import (
	"context"
	"sync"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// listeners subscribe in the test's process, which is not killed: one listener to each negotiation, and one
// to all negotiations of each wallet. They share a client, and so a single connection through the proxies.
type listeners struct {
	client  *haggle.Client
	running sync.WaitGroup

	lock    sync.Mutex
	events  map[solana.PublicKey][]received
	wallets []map[solana.PublicKey][]received
	// late counts the events delivered out of order.
	late   int
	failed []error
}

// listen subscribes to all negotiations before the agents start.
func listen(ctx context.Context, p *plan) (*listeners, error) {
	client, err := haggle.NewClient(p.config(len(p.Hosts), "/listeners"))
	if err != nil {
		return nil, err
	}
	a := &listeners{client: client, events: make(map[solana.PublicKey][]received)}
	for _, n := range p.Negotiations {
		a.follow(ctx, func(ctx context.Context) (*haggle.Subscription, error) {
			return client.Watch(ctx, n.Address, haggle.FromBeginning())
		}, a.events)
	}
	for _, wallet := range p.Wallets {
		into := make(map[solana.PublicKey][]received)
		a.wallets = append(a.wallets, into)
		a.follow(ctx, func(ctx context.Context) (*haggle.Subscription, error) {
			return client.WatchAgent(ctx, wallet, haggle.FromBeginning())
		}, into)
	}
	return a, nil
}

// follow records a subscription's events.
func (a *listeners) follow(ctx context.Context, subscribe func(context.Context) (*haggle.Subscription, error), into map[solana.PublicKey][]received) {
	a.running.Go(func() {
		subscription, err := subscribe(ctx)
		for err != nil {
			if pause(ctx, listenAgain) != nil {
				return
			}
			subscription, err = subscribe(ctx)
		}
		defer subscription.Close()
		for seen := range subscription.Events() {
			a.lock.Lock()
			into[seen.Negotiation] = append(into[seen.Negotiation], receivedOf(seen))
			if seen.Late {
				a.late++
			}
			a.lock.Unlock()
		}
		if ctx.Err() == nil {
			a.lock.Lock()
			a.failed = append(a.failed, subscription.Err())
			a.lock.Unlock()
		}
	})
}

func (a *listeners) of(negotiation solana.PublicKey) []received {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.events[negotiation]
}

func (a *listeners) ofWallet(wallet int, negotiation solana.PublicKey) []received {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.wallets[wallet][negotiation]
}

// receivedTheEnd reports whether all listeners have received a negotiation's closing.
func (a *listeners) receivedTheEnd(n negotiation) bool {
	for _, all := range [][]received{a.of(n.Address), a.ofWallet(n.Buyer, n.Address), a.ofWallet(n.Seller, n.Address)} {
		if !endsWithClosing(all) {
			return false
		}
	}
	return true
}

func endsWithClosing(all []received) bool {
	return len(all) > 0 && all[len(all)-1].Event == closedEvent
}
