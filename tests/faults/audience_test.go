package faults_test

import (
	"context"
	"sync"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
)

// audience are listeners of the test's own process, which is not killed: one for each negotiation, and one for all of each wallet's.
// They share a client, and so one connection, that goes through the proxies.
type audience struct {
	client  *haggle.Client
	running sync.WaitGroup

	lock    sync.Mutex
	told    map[solana.PublicKey][]heard
	wallets []map[solana.PublicKey][]heard
	// late counts the events that were told after something later.
	late   int
	failed []error
}

// listen subscribes to everything before anything happens.
func listen(ctx context.Context, p *plan) (*audience, error) {
	client, err := haggle.NewClient(p.config(len(p.Hosts), "/audience"))
	if err != nil {
		return nil, err
	}
	a := &audience{client: client, told: make(map[solana.PublicKey][]heard)}
	for _, n := range p.Negotiations {
		a.follow(ctx, func(ctx context.Context) (*haggle.Subscription, error) {
			return client.Watch(ctx, n.Address, haggle.FromBeginning())
		}, a.told)
	}
	for _, wallet := range p.Wallets {
		into := make(map[solana.PublicKey][]heard)
		a.wallets = append(a.wallets, into)
		a.follow(ctx, func(ctx context.Context) (*haggle.Subscription, error) {
			return client.WatchAgent(ctx, wallet, haggle.FromBeginning())
		}, into)
	}
	return a, nil
}

// follow takes down what a subscription tells.
func (a *audience) follow(ctx context.Context, subscribe func(context.Context) (*haggle.Subscription, error), into map[solana.PublicKey][]heard) {
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
			into[seen.Negotiation] = append(into[seen.Negotiation], heardOf(seen))
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

func (a *audience) of(negotiation solana.PublicKey) []heard {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.told[negotiation]
}

func (a *audience) ofWallet(wallet int, negotiation solana.PublicKey) []heard {
	a.lock.Lock()
	defer a.lock.Unlock()
	return a.wallets[wallet][negotiation]
}

// hasHeardTheEnd says whether all of them have heard a negotiation being closed.
func (a *audience) hasHeardTheEnd(n negotiation) bool {
	for _, all := range [][]heard{a.of(n.Address), a.ofWallet(n.Buyer, n.Address), a.ofWallet(n.Seller, n.Address)} {
		if !endsWithClosing(all) {
			return false
		}
	}
	return true
}

func endsWithClosing(all []heard) bool { return len(all) > 0 && all[len(all)-1].Event == closedEvent }
