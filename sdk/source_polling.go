package haggle

import (
	"cmp"
	"context"
	"errors"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

// Defaults and limits of polling.
const (
	defaultPollEvery = 2 * time.Second
	leastPollEvery   = 50 * time.Millisecond
	// pollPause is between two requests of a round: at most twenty a second.
	pollPause = 50 * time.Millisecond
	// pollFailures is how many rounds in a row may fail before the stream ends, which makes it visible in Subscription.Lag.
	pollFailures = 3
)

var errWrongCount = malformed("the node answers with another number of accounts than it was asked for")

// Polling is an [EventSource] that asks the node again and again. It needs no WebSocket interface, and costs a request per hundred
// negotiations and one per agent each time.
type Polling struct {
	// Every is how often the node is asked: by default every two seconds, at least 50 milliseconds apart. With many addresses a round
	// takes longer: twenty requests a second are the most it makes.
	Every time.Duration
}

// NewPolling makes a source that asks the node this often; zero is the default.
func NewPolling(every time.Duration) *Polling { return &Polling{Every: every} }

// Open begins to poll.
func (p *Polling) Open(ctx context.Context, options StreamOptions) (EventStream, error) {
	if options.RPC == nil || options.Notify == nil {
		return nil, errors.New("haggle: polling needs RPC and Notify")
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stream := &pollStream{
		options: options, every: max(cmp.Or(p.Every, defaultPollEvery), leastPollEvery),
		cancel: cancel, done: make(chan struct{}), seed: maphash.MakeSeed(),
		polled: make(map[solana.PublicKey]*polled),
	}
	stream.running.Go(func() { stream.run(ctx) })
	return stream, nil
}

type pollStream struct {
	options StreamOptions
	every   time.Duration
	cancel  context.CancelFunc
	running sync.WaitGroup
	done    chan struct{}
	seed    maphash.Seed

	lock   sync.Mutex
	polled map[solana.PublicKey]*polled
	err    error
}

// polled is what an address was like when the node was last asked.
type polled struct {
	fingerprint uint64
	// newest is the newest transaction that mentions it, if it has no account of the program's.
	newest solana.Signature
}

// Subscribe notes how the addresses are now, so that every later change is one.
func (s *pollStream) Subscribe(ctx context.Context, addresses []solana.PublicKey) error {
	for some := range slices.Chunk(addresses, accountsAtOnce) {
		if err := s.poll(ctx, some, true); err != nil {
			return err
		}
	}
	return nil
}

func (s *pollStream) Unsubscribe(addresses []solana.PublicKey) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, address := range addresses {
		delete(s.polled, address)
	}
	return nil
}

func (s *pollStream) Done() <-chan struct{} { return s.done }

func (s *pollStream) Err() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.err
}

func (s *pollStream) Close() {
	s.cancel()
	s.running.Wait()
}

func (s *pollStream) run(ctx context.Context) {
	defer close(s.done)
	failures := 0
	for wait.For(ctx, s.every) == nil {
		err := s.round(ctx)
		if err == nil {
			failures = 0
			continue
		}
		if failures++; failures < pollFailures && ctx.Err() == nil {
			continue
		}
		s.lock.Lock()
		s.err = err
		s.lock.Unlock()
		return
	}
}

func (s *pollStream) round(ctx context.Context) error {
	s.lock.Lock()
	addresses := make([]solana.PublicKey, 0, len(s.polled))
	for address := range s.polled {
		addresses = append(addresses, address)
	}
	s.lock.Unlock()
	for some := range slices.Chunk(addresses, accountsAtOnce) {
		if err := s.poll(ctx, some, false); err != nil {
			return err
		}
		if err := wait.For(ctx, pollPause); err != nil {
			return err
		}
	}
	return nil
}

// poll tells of the addresses that are not as they were, unless they are new.
func (s *pollStream) poll(ctx context.Context, addresses []solana.PublicKey, added bool) error {
	slot, fingerprints, owned, err := fingerprintsOf(ctx, s.options.RPC, s.options.Commitment, s.seed, addresses)
	if err != nil {
		return err
	}
	for i, address := range addresses {
		now := polled{fingerprint: fingerprints[i]}
		if !owned[i] {
			if now.newest, err = s.newest(ctx, address); err != nil {
				return err
			}
		}
		if s.changed(address, now, added) {
			s.options.Notify(Hint{Address: address, Slot: slot})
		}
	}
	return nil
}

func (s *pollStream) changed(address solana.PublicKey, now polled, added bool) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	before := s.polled[address]
	if before == nil && !added {
		return false // it has been taken away meanwhile
	}
	s.polled[address] = &now
	return before != nil && *before != now
}

// newest is the newest transaction that mentions an address that the program has no account at: an agent's, or that of a negotiation
// which has been closed or does not exist yet.
func (s *pollStream) newest(ctx context.Context, address solana.PublicKey) (solana.Signature, error) {
	one := 1
	listed, err := s.options.RPC.GetSignaturesForAddressWithOpts(ctx, address, &rpc.GetSignaturesForAddressOpts{Limit: &one, Commitment: s.options.Commitment})
	if err != nil || len(listed) == 0 || listed[0] == nil {
		return solana.Signature{}, err
	}
	if err := wait.For(ctx, pollPause); err != nil {
		return solana.Signature{}, err
	}
	return listed[0].Signature, nil
}
