package send

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
)

const (
	// A new transaction's status is requested at intervals that double, because a local chain confirms in
	// milliseconds, and a public chain in a second.
	FirstPoll = 30 * time.Millisecond
	LastPoll  = 500 * time.Millisecond
	// statusesAtOnce limits the signatures per request.
	statusesAtOnce = 256
	// recentStatuses is how long nodes return a transaction's status without a search of their history, with
	// some margin.
	recentStatuses = time.Minute
)

// newPolling returns the intervals for repeating a request whose result the node will have soon.
func newPolling() *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{InitialInterval: FirstPoll, MaxInterval: LastPoll, Multiplier: 2}
}

// statusPoller requests the statuses of all transactions that the sender waits for, in a single request for
// all. It runs while there are any.
type statusPoller struct {
	sender *Sender

	lock    sync.Mutex
	waiting map[solana.Signature][]*watchedStatus
	// changed wakes the poller after a transaction is added or removed.
	changed chan struct{}
	running bool

	// heights is held while the finalized block height is requested. height is the last height, requested at
	// heightAt.
	heights  sync.Mutex
	height   uint64
	heightAt time.Time
}

// watchedStatus is a watcher of a transaction's status.
type watchedStatus struct {
	updates chan statusUpdate
	polling *backoff.ExponentialBackOff
	due     time.Time
}

// statusUpdate is a node's response. The status is nil if the node does not know the transaction.
type statusUpdate struct {
	status *rpc.SignatureStatusesResult
	err    error
}

func newStatusPoller(sender *Sender) *statusPoller {
	return &statusPoller{sender: sender, waiting: make(map[solana.Signature][]*watchedStatus),
		changed: make(chan struct{}, 1)}
}

// watch returns a channel that always holds a transaction's newest status, until unwatch.
func (s *statusPoller) watch(signature solana.Signature) chan statusUpdate {
	watched := &watchedStatus{updates: make(chan statusUpdate, 1), polling: newPolling()}
	watched.due = time.Now().Add(watched.polling.NextBackOff())
	s.lock.Lock()
	defer s.lock.Unlock()
	s.waiting[signature] = append(s.waiting[signature], watched)
	if !s.running {
		s.running = true
		if !s.sender.Start(s.run) {
			s.running = false
			watched.updates <- statusUpdate{err: s.sender.Closed}
		}
	}
	s.wake()
	return watched.updates
}

func (s *statusPoller) unwatch(signature solana.Signature, updates chan statusUpdate) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.waiting[signature] = slices.DeleteFunc(s.waiting[signature],
		func(watched *watchedStatus) bool { return watched.updates == updates })
	if len(s.waiting[signature]) == 0 {
		delete(s.waiting, signature)
	}
	s.wake() // The poller ends if this was the last one.
}

func (s *statusPoller) wake() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

func (s *statusPoller) run() {
	for {
		due, idle := s.next()
		if idle {
			return
		}
		timer := time.NewTimer(time.Until(due))
		select {
		case <-s.sender.Closing.Done():
			timer.Stop()
			s.deliver(nil, nil, s.sender.Closed)
			s.stop()
			return
		case <-s.changed:
			timer.Stop()
			continue
		case <-timer.C:
		}
		s.poll()
	}
}

// next returns the time of the next request. If there is nothing to wait for, the poller stops.
func (s *statusPoller) next() (due time.Time, idle bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, all := range s.waiting {
		for _, watched := range all {
			if due.IsZero() || watched.due.Before(due) {
				due = watched.due
			}
		}
	}
	s.running = !due.IsZero()
	return due, !s.running
}

func (s *statusPoller) stop() {
	s.lock.Lock()
	s.running = false
	s.lock.Unlock()
}

// poll requests the statuses of all transactions, due transactions first.
func (s *statusPoller) poll() {
	s.lock.Lock()
	signatures := slices.Collect(maps.Keys(s.waiting))
	s.lock.Unlock()
	for batch := range slices.Chunk(signatures, statusesAtOnce) {
		answer, err := s.sender.RPC.GetSignatureStatuses(s.sender.Closing, false, batch...)
		if err == nil && len(answer.Value) != len(batch) {
			err = rpcpool.Malformed("node returned %d statuses instead of %d", len(answer.Value), len(batch))
		}
		if err != nil {
			s.deliver(batch, nil, err)
			continue
		}
		s.deliver(batch, answer.Value, nil)
	}
}

// deliver sends a response, which replaces any unreceived response. If batch is nil, it sends the error to
// all.
func (s *statusPoller) deliver(batch []solana.Signature, statuses []*rpc.SignatureStatusesResult, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if batch == nil {
		batch = slices.Collect(maps.Keys(s.waiting))
	}
	for i, signature := range batch {
		update := statusUpdate{err: err}
		if err == nil {
			update.status = statuses[i]
		}
		for _, watched := range s.waiting[signature] {
			select {
			case <-watched.updates:
			default:
			}
			watched.updates <- update
			watched.due = time.Now().Add(watched.polling.NextBackOff())
		}
	}
}

// mayHaveExpired reports whether the verdicts of all nodes should be requested. The finalized block height is
// requested once for all transactions. After twice the minimum age one node's height no longer counts.
func (s *statusPoller) mayHaveExpired(ctx context.Context, p *Pending) bool {
	if !p.isOldEnough() {
		return false
	}
	if !p.Valid.Nonce.IsZero() {
		limit, err := p.Valid.limitAt(ctx, s.sender.RPC)
		return err != nil || limit.over
	}
	if time.Since(p.since()) >= 2*minimumAge {
		return true
	}
	s.heights.Lock()
	defer s.heights.Unlock()
	if time.Since(s.heightAt) >= rebroadcastEvery/2 {
		epoch, err := s.sender.RPC.GetEpochInfo(ctx, rpc.CommitmentFinalized)
		if err != nil {
			return true // hasExpired checks each node
		}
		s.height, s.heightAt = epoch.BlockHeight, time.Now()
	}
	return s.height > p.Valid.LastHeight
}
