package events

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/accounts"
	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

// Defaults and limits of polling.
const (
	defaultPollEvery = 2 * time.Second
	leastPollEvery   = 50 * time.Millisecond
	// pollPause separates a round's requests: at most twenty a second.
	pollPause = 50 * time.Millisecond
	// pollFailures is how many rounds in a row may fail before the stream ends, which makes the failure
	// visible in the lag of subscriptions.
	pollFailures = 3
)

// polling implements a source by polling the node.
type polling struct {
	every time.Duration
}

// NewPolling returns a source that polls the node at an interval and needs no WebSocket interface. If the
// interval is zero, 2 seconds are used; the minimum is 50 milliseconds. A round costs a request per hundred
// accounts of the program and a request per other address. It sends at most twenty requests a second, so with
// many addresses a round takes longer.
func NewPolling(every time.Duration) Source {
	return polling{every: max(cmp.Or(every, defaultPollEvery), leastPollEvery)}
}

// Open starts polling.
func (p polling) Open(ctx context.Context, options Options) (Stream, error) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stream := &pollStream{
		options: options, every: p.every, cancel: cancel, done: make(chan struct{}), seed: maphash.MakeSeed(),
		polled: make(map[solana.PublicKey]*polled),
	}
	stream.running.Go(func() { stream.run(ctx) })
	return stream, nil
}

type pollStream struct {
	options Options
	every   time.Duration
	cancel  context.CancelFunc
	running sync.WaitGroup
	done    chan struct{}
	seed    maphash.Seed

	lock   sync.Mutex
	polled map[solana.PublicKey]*polled
	err    error
}

// polled holds an address's state from the last poll.
type polled struct {
	fingerprint uint64
	// newest identifies the newest transaction that mentions the address, if the program owns no account
	// there.
	newest solana.Signature
}

// Subscribe reads the state of the addresses, so the next poll detects every later change.
func (s *pollStream) Subscribe(ctx context.Context, addresses []solana.PublicKey) error {
	for some := range slices.Chunk(addresses, accounts.AtOnce) {
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
	for some := range slices.Chunk(addresses, accounts.AtOnce) {
		if err := s.poll(ctx, some, false); err != nil {
			return err
		}
		if err := wait.For(ctx, pollPause); err != nil {
			return err
		}
	}
	return nil
}

// poll sends a hint for each changed address. added marks addresses that are polled for the first time.
func (s *pollStream) poll(ctx context.Context, addresses []solana.PublicKey, added bool) error {
	slot, fingerprints, owned, err := accounts.Fingerprints(ctx, s.options.RPC, s.options.Program,
		s.options.Commitment, s.seed, addresses)
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
		return false // Unsubscribe removed it since
	}
	s.polled[address] = &now
	return before != nil && *before != now
}

// newest returns the newest transaction that mentions an address without a program account: an agent's, or a
// negotiation's that is closed or does not exist yet.
func (s *pollStream) newest(ctx context.Context, address solana.PublicKey) (solana.Signature, error) {
	one := 1
	listed, err := s.options.RPC.GetSignaturesForAddressWithOpts(ctx, address,
		&rpc.GetSignaturesForAddressOpts{Limit: &one, Commitment: s.options.Commitment})
	if err != nil || len(listed) == 0 || listed[0] == nil {
		return solana.Signature{}, err
	}
	if err := wait.For(ctx, pollPause); err != nil {
		return solana.Signature{}, err
	}
	return listed[0].Signature, nil
}
