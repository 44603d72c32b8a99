package haggle

import (
	"context"
	"errors"
	"sync"
	"time"
)

// EventsHeld is how many events at least a subscription holds for its listener before it leaves the next ones at the node. Those of
// one transaction stay together, so it may be a few more.
const EventsHeld = 64

// roomAgain is when a subscription goes on that has left events at the node.
const roomAgain = EventsHeld / 2

var errSubscriptionClosed = errors.New("haggle: the subscription is closed")

// Subscription delivers events until it is closed, its context or its client ends, or it fails for good.
type Subscription struct {
	watcher *watcher
	events  chan EventEnvelope
	done    chan struct{}
	ctx     context.Context
	cancel  context.CancelCauseFunc
	// running are the worker that looks after it and the goroutine that delivers, while there is something to do.
	running sync.WaitGroup

	lock sync.Mutex
	// held are events that the listener has not received yet.
	held       []held
	delivering bool
	// full says that the watcher waits for room.
	full bool
	// over says that nothing is delivered any more.
	over bool
	// failed is why the subscription ends once everything has been received.
	failed error
	err    error
}

// held is an event that waits for its listener.
type held struct {
	EventEnvelope
	since time.Time
}

func newSubscription(ctx context.Context, w *watcher) (*Subscription, error) {
	c := w.client
	s := &Subscription{watcher: w, events: make(chan EventEnvelope), done: make(chan struct{})}
	w.subscription = s
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.closing.Err() != nil {
		s.cancel(ErrClientClosed)
		return nil, ErrClientClosed
	}
	c.running.Add(1)
	stop := context.AfterFunc(c.closing, func() { s.cancel(ErrClientClosed) })
	context.AfterFunc(s.ctx, func() {
		defer c.running.Done()
		stop()
		s.finish()
	})
	return s, nil
}

// Events are what has been seen. The channel is closed at the end of the subscription.
func (s *Subscription) Events() <-chan EventEnvelope { return s.events }

// Err says why the subscription has ended: nil while it has not, and after Close.
func (s *Subscription) Err() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.err
}

// Close ends the subscription and returns when nothing of it runs any more. (The documents call it removeEventListener.) Events that
// nobody has received yet are lost. Calling it again does nothing.
func (s *Subscription) Close() {
	s.cancel(errSubscriptionClosed)
	<-s.done
}

// finish runs when the context has ended.
func (s *Subscription) finish() {
	s.lock.Lock()
	s.over = true
	s.lock.Unlock()
	s.running.Wait()
	s.watcher.leave()
	s.lock.Lock()
	if err := context.Cause(s.ctx); !errors.Is(err, errSubscriptionClosed) {
		s.err = err
	}
	s.held = nil
	s.lock.Unlock()
	close(s.events)
	close(s.done)
}

// enter says whether something may still be done for the subscription, and has its end wait for that.
func (s *Subscription) enter() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.over || s.failed != nil {
		return false
	}
	s.running.Add(1)
	return true
}

// fail ends the subscription for good, once its listener has received what there is.
func (s *Subscription) fail(err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.failed == nil {
		s.failed = err
	}
	if !s.delivering {
		s.cancel(s.failed)
	}
}

// hasRoom says whether there is room for the events of another transaction. If not, the watcher is scheduled when there is.
func (s *Subscription) hasRoom() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.full = len(s.held) >= EventsHeld
	return !s.full
}

// deliver gives an event to the listener when that is ready for it, and does not wait.
func (s *Subscription) deliver(seen EventEnvelope) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.over {
		return
	}
	s.held = append(s.held, held{EventEnvelope: seen, since: time.Now()})
	if !s.delivering {
		s.delivering = true
		s.running.Go(s.pass)
	}
}

// pass hands the events over. It runs only while there are any: a subscription to which nothing happens costs no goroutine.
func (s *Subscription) pass() {
	for {
		next, ok := s.next()
		if !ok {
			return
		}
		select {
		case s.events <- next:
		case <-s.ctx.Done():
			return
		}
		if s.received() {
			s.watcher.resume()
		}
	}
}

func (s *Subscription) next() (EventEnvelope, bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if len(s.held) > 0 {
		return s.held[0].EventEnvelope, true
	}
	s.held = nil
	s.delivering = false
	if s.failed != nil {
		s.cancel(s.failed)
	}
	return EventEnvelope{}, false
}

// received takes the first event away, and says whether there is room again for a watcher that has waited for it.
func (s *Subscription) received() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.held[0] = held{}
	s.held = s.held[1:]
	if !s.full || len(s.held) > roomAgain {
		return false
	}
	s.full = false
	return true
}
