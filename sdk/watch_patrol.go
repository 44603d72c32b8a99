package haggle

import (
	"context"
	"hash/maphash"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

const (
	// sweepEvery is how often the patrol goes round: some nodes drop notifications silently. The more accounts there are, the longer
	// it takes: sweepPerAccount.
	sweepEvery      = 20 * time.Second
	sweepPerAccount = 5 * time.Millisecond
	// accountsAtOnce is the most accounts that a node is asked for at once.
	accountsAtOnce = 100
	// patrolPause is between two requests of the patrol, and between two lists that it has made of addresses that it does not know
	// anything new of: at most twenty a second.
	patrolPause = 50 * time.Millisecond
)

// patrol goes round the watched addresses to see whether anything has happened there that the stream has not told of. Whatever
// happens to a negotiation changes its account, and the accounts of a hundred are one request, so that 10,000 cost a hundred requests
// instead of 10,000. Only where the account has changed the transactions are listed.
func (f *feed) patrol(ctx context.Context) {
	p := &patrol{feed: f, seed: maphash.MakeSeed(), queued: make(map[solana.PublicKey]struct{})}
	timer := time.NewTimer(f.untilSweep())
	defer timer.Stop()
	for {
		var unhurried <-chan time.Time
		if len(p.unhurried) > 0 {
			unhurried = time.After(patrolPause)
		}
		select {
		case <-ctx.Done():
			return
		case <-unhurried:
			p.lookAtNext()
			continue
		case <-f.sweep:
		case <-timer.C:
		}
		pause := f.untilSweep()
		if err := p.goRound(ctx); err != nil {
			pause = min(pause, jitter(lastReconnect/2))
		}
		timer.Reset(pause)
	}
}

func (f *feed) untilSweep() time.Duration {
	f.lock.Lock()
	defer f.lock.Unlock()
	return sweepEvery + time.Duration(len(f.places))*sweepPerAccount
}

// patrol is used by one goroutine.
type patrol struct {
	feed *feed
	seed maphash.Seed
	// unhurried are addresses to list when there is time: to be sure, not because anything is known to have happened.
	unhurried []solana.PublicKey
	queued    map[solana.PublicKey]struct{}
}

func (p *patrol) goRound(ctx context.Context) error {
	accounts, wallets := p.places()
	from, err := p.feed.reached(ctx)
	if err != nil {
		return err
	}
	for _, wallet := range wallets {
		p.look(wallet)
	}
	for len(accounts) > 0 {
		some := accounts[:min(len(accounts), accountsAtOnce)]
		accounts = accounts[len(some):]
		if err := p.compare(ctx, some); err != nil {
			return err
		}
		if len(accounts) > 0 {
			if err := wait.For(ctx, patrolPause); err != nil {
				return err
			}
		}
	}
	p.feed.lock.Lock()
	defer p.feed.lock.Unlock()
	p.feed.sweptAt, p.feed.sweptTo = time.Now(), from
	return nil
}

func (p *patrol) places() (accounts, wallets []solana.PublicKey) {
	p.feed.lock.Lock()
	defer p.feed.lock.Unlock()
	for address, at := range p.feed.places {
		if at.wallet {
			wallets = append(wallets, address)
		} else {
			accounts = append(accounts, address)
		}
	}
	return accounts, wallets
}

// compare looks whether accounts are as they were.
func (p *patrol) compare(ctx context.Context, addresses []solana.PublicKey) error {
	slot, fingerprints, _, err := fingerprintsOf(ctx, p.feed.client.rpc, p.feed.client.commitment, p.seed, addresses)
	if err != nil {
		return err
	}
	p.feed.advanceHead(slot)
	p.feed.lock.Lock()
	defer p.feed.lock.Unlock()
	for i, address := range addresses {
		at := p.feed.places[address]
		if at == nil {
			continue
		}
		known := at.fingerprint != 0
		changed := at.fingerprint != fingerprints[i]
		if changed {
			at.fingerprint, at.changedAt = fingerprints[i], slot
		}
		for _, w := range at.watchers {
			switch {
			case changed && known:
				w.look(address)
			case changed || !w.hasListed(address, at.changedAt+settledSlots):
				p.whenThereIsTime(address)
			}
		}
	}
	return nil
}

func (p *patrol) whenThereIsTime(address solana.PublicKey) {
	if _, queued := p.queued[address]; !queued {
		p.queued[address] = struct{}{}
		p.unhurried = append(p.unhurried, address)
	}
}

func (p *patrol) lookAtNext() {
	address := p.unhurried[0]
	p.unhurried = p.unhurried[1:]
	delete(p.queued, address)
	p.look(address)
}

func (p *patrol) look(address solana.PublicKey) {
	p.feed.lock.Lock()
	defer p.feed.lock.Unlock()
	if at := p.feed.places[address]; at != nil {
		for _, w := range at.watchers {
			w.look(address)
		}
	}
}

// fingerprintsOf tells accounts from what they were before; none is zero. owned says which of them are the program's, and slot when
// they were so.
func fingerprintsOf(ctx context.Context, client *rpc.Client, commitment rpc.CommitmentType, seed maphash.Seed, addresses []solana.PublicKey) (slot uint64, fingerprints []uint64, owned []bool, err error) {
	found, err := client.GetMultipleAccountsWithOpts(ctx, addresses, &rpc.GetMultipleAccountsOpts{
		Encoding: solana.EncodingBase64, Commitment: commitment,
	})
	if err != nil {
		return 0, nil, nil, err
	}
	if len(found.Value) != len(addresses) {
		return 0, nil, nil, errWrongCount
	}
	fingerprints, owned = make([]uint64, len(addresses)), make([]bool, len(addresses))
	for i, account := range found.Value {
		var hash maphash.Hash
		hash.SetSeed(seed)
		// What the program has no account at is listed, if at all: a wallet's content says nothing.
		if owned[i] = account != nil && account.Owner == protocol.ProgramID; owned[i] && account.Data != nil {
			_, _ = hash.Write(account.Data.GetBinary())
		}
		fingerprints[i] = max(hash.Sum64(), 1)
	}
	return found.Context.Slot, fingerprints, owned, nil
}
