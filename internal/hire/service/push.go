package service

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

const (
	// defaultPushLimit bounds an attempt to push an event.
	defaultPushLimit = 5 * time.Second
	// pushClaim is how long a process leases an inbox. Each event renews the lease.
	pushClaim = time.Minute
	// pushAge limits how old pushed events may be.
	pushAge = 24 * time.Hour
	// maxPause limits pauses between attempts.
	maxPause = 10 * time.Minute
	// duePage limits inboxes per query.
	duePage = 100
	// saveLimit bounds the time to store a position.
	saveLimit = 5 * time.Second
)

// pusher pushes events to agents hosted elsewhere.
type pusher struct {
	// limit bounds an attempt, in nanoseconds.
	limit atomic.Int64
	// signal receives a value when an event was added or a place was freed.
	signal chan struct{}
	// proven, untried and failed are separate places: for inboxes that accepted the last event, for new
	// inboxes, and after failures. So dead inboxes, however many, never delay responsive ones.
	proven, untried, failed *semaphore.Weighted

	lock sync.Mutex
	// busy contains the agents in progress.
	busy map[string]bool
}

func newPusher(places int) *pusher {
	quarter := int64(max(1, places/4))
	p := &pusher{
		signal: make(chan struct{}, 1), busy: make(map[string]bool),
		proven:  semaphore.NewWeighted(max(1, int64(places)-2*quarter)),
		untried: semaphore.NewWeighted(quarter), failed: semaphore.NewWeighted(quarter),
	}
	p.limit.Store(int64(defaultPushLimit))
	return p
}

func (p *pusher) wake() {
	select {
	case p.signal <- struct{}{}:
	default:
	}
}

// begin takes a place, and returns the function to free it; nil if no place is free.
func (p *pusher) begin(push store.Push) func() {
	places := p.proven
	switch {
	case push.Failures > 0:
		places = p.failed
	case push.Pushed == 0:
		places = p.untried
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.busy[push.Agent] || !places.TryAcquire(1) {
		return nil
	}
	p.busy[push.Agent] = true
	return func() {
		p.lock.Lock()
		defer p.lock.Unlock()
		delete(p.busy, push.Agent)
		places.Release(1)
		p.wake()
	}
}

// pushEvents pushes events until ctx ends. Messages to this process wake it; polling finds other processes'
// events and repeats failed attempts.
func (s *Service) pushEvents(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		due, err := s.config.Store.DuePushes(ctx, s.now(), duePage)
		s.failed(ctx, "looking for events to push", err)
		for _, push := range due {
			if done := s.pusher.begin(push); done != nil {
				running.Go(func() {
					defer done()
					s.failed(ctx, "pushing events", s.pushTo(ctx, push.Agent))
				})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-s.pusher.signal:
		}
	}
}

// pushTo pushes an agent's events in order until an attempt fails.
func (s *Service) pushTo(ctx context.Context, agent string) error {
	now := s.now()
	push, found, err := s.config.Store.ClaimPush(ctx, agent, now, now.Add(pushClaim))
	if err != nil || !found {
		return err
	}
	var next time.Time
	for {
		events, err := s.config.Store.Events(ctx, agent, push.Pushed)
		if err != nil || len(events) == 0 {
			return errors.Join(err, s.savePush(ctx, push, next))
		}
		for _, event := range events {
			switch err := s.pushOne(ctx, agent, event); {
			case errors.Is(err, errOld):
			case err != nil && ctx.Err() != nil:
				return s.savePush(ctx, push, next) // the next process continues at once
			case err != nil:
				push.Failures++
				return s.savePush(ctx, push, s.now().Add(pause(push.Failures)))
			default:
				push.Failures = 0
			}
			push.Pushed = event.Number
			if err := s.savePush(ctx, push, s.now().Add(pushClaim)); err != nil {
				return err
			}
		}
	}
}

// savePush stores an inbox's position, even while the process stops.
func (s *Service) savePush(ctx context.Context, push store.Push, next time.Time) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveLimit)
	defer cancel()
	return s.config.Store.SavePush(ctx, push, next)
}

// errOld: the event exceeds pushAge.
var errOld = errors.New("older than a day")

// pushOne pushes an event. It returns nil if the peer accepts or refuses the event, and errOld if it is too
// old.
func (s *Service) pushOne(ctx context.Context, agent string, event store.Event) error {
	err := errOld
	if s.now().Sub(event.At) < pushAge {
		err = s.push(ctx, agent, event.Message)
	}
	if refused := errors.As(err, new(*hire.Refusal)); refused || errors.Is(err, errOld) {
		s.config.Log.WarnContext(ctx, "event not pushed", "agent", agent, "number", event.Number, "error", err)
		if refused {
			return nil
		}
	}
	return err
}

func (s *Service) push(ctx context.Context, agent string, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(s.pusher.limit.Load()))
	defer cancel()
	message, err := hire.Parse(text)
	if err != nil {
		return err
	}
	peer, err := s.resolver.Resolve(ctx, agent)
	if err != nil {
		// Without %w: a refused card may be valid again later, so the event is retried.
		return fmt.Errorf("card of %s: %v", agent, err)
	}
	return s.config.Client.Send(ctx, peer.Inbox, message)
}

// pause returns the pause by number of failures: 1 s, doubled by each further failure up to maxPause, plus
// random jitter up to half the pause.
func pause(failures int64) time.Duration {
	pause := min(maxPause, time.Second<<min(failures-1, 10))
	return pause + rand.N(pause/2)
}
