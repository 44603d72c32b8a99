package feed

import (
	"context"
	"hash/maphash"
	"math/rand/v2"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/accounts"
	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

const (
	// ReconcileEvery is the interval for comparing accounts, because some nodes drop notifications silently.
	// reconcilePerAccount is added for each account.
	ReconcileEvery      = 20 * time.Second
	reconcilePerAccount = 5 * time.Millisecond
	// reconcilePause separates requests, and lists of addresses without a known change: at most twenty a
	// second.
	reconcilePause = 50 * time.Millisecond
)

// reconcileLoop finds transactions missed by the source. It compares the accounts of all topics with their
// last fingerprints, a hundred per request, and lists the transactions only where the account changed, or is
// missing: it could have been created and closed since.
func (f *Feed) reconcileLoop(ctx context.Context) {
	r := &reconciler{feed: f, seed: maphash.MakeSeed(), queued: make(map[solana.PublicKey]struct{})}
	timer := time.NewTimer(f.untilReconcile())
	defer timer.Stop()
	for {
		var idle <-chan time.Time
		if len(r.idle) > 0 {
			idle = time.After(reconcilePause)
		}
		select {
		case <-ctx.Done():
			return
		case <-idle:
			r.refreshNext()
			continue
		case <-f.reconcileNow:
		case <-timer.C:
		}
		pause := f.untilReconcile()
		if err := r.reconcile(ctx); err != nil {
			pause = min(pause, lastReconnect/4+rand.N(lastReconnect/2))
		}
		timer.Reset(pause)
	}
}

func (f *Feed) untilReconcile() time.Duration {
	f.lock.Lock()
	defer f.lock.Unlock()
	return ReconcileEvery + time.Duration(len(f.topics))*reconcilePerAccount
}

// reconciler is used by one goroutine.
type reconciler struct {
	feed *Feed
	seed maphash.Seed
	// idle are addresses without a known change, which are listed one at a time.
	idle   []solana.PublicKey
	queued map[solana.PublicKey]struct{}
}

func (r *reconciler) reconcile(ctx context.Context) error {
	owned, wallets := r.topics()
	from, err := r.feed.reached(ctx)
	if err != nil {
		return err
	}
	for _, wallet := range wallets {
		r.refresh(wallet)
	}
	for len(owned) > 0 {
		some := owned[:min(len(owned), accounts.AtOnce)]
		owned = owned[len(some):]
		if err := r.compare(ctx, some, from); err != nil {
			return err
		}
		if len(owned) > 0 {
			if err := wait.For(ctx, reconcilePause); err != nil {
				return err
			}
		}
	}
	r.feed.lock.Lock()
	defer r.feed.lock.Unlock()
	r.feed.reconciledAt = time.Now()
	return nil
}

func (r *reconciler) topics() (owned, wallets []solana.PublicKey) {
	r.feed.lock.Lock()
	defer r.feed.lock.Unlock()
	for address, at := range r.feed.topics {
		if at.wallet {
			wallets = append(wallets, address)
		} else {
			owned = append(owned, address)
		}
	}
	return owned, wallets
}

// compare requests lists of accounts that changed, do not exist, or were not listed completely. The node had
// reached startSlot before.
func (r *reconciler) compare(ctx context.Context, addresses []solana.PublicKey, startSlot uint64) error {
	slot, fingerprints, owned, err := accounts.Fingerprints(ctx, r.feed.RPC, r.feed.Program,
		r.feed.Commitment, r.seed, addresses)
	if err != nil {
		return err
	}
	r.feed.advanceHead(slot)
	r.feed.lock.Lock()
	defer r.feed.lock.Unlock()
	for i, address := range addresses {
		at := r.feed.topics[address]
		if at == nil {
			continue
		}
		known := at.fingerprint != 0
		changed := at.fingerprint != fingerprints[i]
		if changed {
			at.fingerprint, at.changedAt = fingerprints[i], slot
		}
		for _, s := range at.subscribers {
			switch {
			case changed && known:
				s.refresh(address)
			case changed || !owned[i] || !s.recordUnchanged(address, at.changedAt+transaction.SettledSlots, startSlot):
				r.refreshWhenIdle(address)
			}
		}
	}
	return nil
}

func (r *reconciler) refreshWhenIdle(address solana.PublicKey) {
	if _, queued := r.queued[address]; !queued {
		r.queued[address] = struct{}{}
		r.idle = append(r.idle, address)
	}
}

func (r *reconciler) refreshNext() {
	address := r.idle[0]
	r.idle = r.idle[1:]
	delete(r.queued, address)
	r.refresh(address)
}

func (r *reconciler) refresh(address solana.PublicKey) {
	r.feed.lock.Lock()
	defer r.feed.lock.Unlock()
	if at := r.feed.topics[address]; at != nil {
		for _, s := range at.subscribers {
			s.refresh(address)
		}
	}
}
