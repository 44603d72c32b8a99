package feed

import (
	"context"
	"errors"
	"sync"
	"time"
)

// EventsHeld is how many events a subscription buffers for the listener before leaving further events at the
// node. A transaction's events stay together, so the buffer may exceed it by a few.
const EventsHeld = 64

// resumeBelow is the number of buffered events that lets a full subscription continue.
const resumeBelow = EventsHeld / 2

var errSubscriptionClosed = errors.New("the subscription is closed")

// Subscription delivers events until it is closed, the context or the feed ends, or it fails for good.
type Subscription struct {
	watcher *watcher
	done    chan struct{}
	ctx     context.Context
	cancel  context.CancelCauseFunc
	// running counts the worker and the delivering goroutine, while they run.
	running sync.WaitGroup

	lock sync.Mutex
	// held holds the events that the listener did not receive yet.
	held       []held
	delivering bool
	// full reports whether the watcher waits for room.
	full bool
	// ended reports whether delivery is over.
	ended bool
	// failed is the error that ends the subscription once the listener received all held events.
	failed error
	err    error
}

// held is an event that waits for the listener.
type held struct {
	Delivery
	since time.Time
}

func newSubscription(ctx context.Context, w *watcher) (*Subscription, error) {
	f := w.feed
	s := &Subscription{watcher: w, done: make(chan struct{})}
	w.subscription = s
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	f.closeLock.Lock()
	defer f.closeLock.Unlock()
	if f.closing.Err() != nil {
		s.cancel(ErrClosed)
		return nil, ErrClosed
	}
	f.running.Add(1)
	stop := context.AfterFunc(f.closing, func() { s.cancel(ErrClosed) })
	context.AfterFunc(s.ctx, func() {
		defer f.running.Done()
		stop()
		s.finish()
	})
	return s, nil
}

// Err returns the reason for the end of the subscription. It returns nil before the end, and after Close.
func (s *Subscription) Err() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.err
}

// Close ends the subscription and returns when all goroutines have ended. Undelivered events are lost.
// Calling it again does nothing.
func (s *Subscription) Close() {
	s.cancel(errSubscriptionClosed)
	<-s.done
}

// finish runs once the context ended.
func (s *Subscription) finish() {
	s.lock.Lock()
	s.ended = true
	s.lock.Unlock()
	s.running.Wait()
	s.watcher.detach()
	s.lock.Lock()
	if err := context.Cause(s.ctx); !errors.Is(err, errSubscriptionClosed) {
		s.err = err
	}
	s.held = nil
	s.lock.Unlock()
	s.watcher.Ended()
	close(s.done)
}

// enter reports whether the subscription still accepts work. If so, finish waits for a call of running.Done.
func (s *Subscription) enter() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.ended || s.failed != nil {
		return false
	}
	s.running.Add(1)
	return true
}

// fail ends the subscription for good, once the listener received the held events.
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

// hasRoom reports whether another transaction's events fit. If not, the watcher is scheduled as soon as they
// fit.
func (s *Subscription) hasRoom() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.full = len(s.held) >= EventsHeld
	return !s.full
}

// deliver queues an event for the listener, and does not block.
func (s *Subscription) deliver(delivery Delivery) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.ended {
		return
	}
	s.held = append(s.held, held{Delivery: delivery, since: time.Now()})
	if !s.delivering {
		s.delivering = true
		s.running.Go(s.deliverHeld)
	}
}

// deliverHeld sends the held events to the listener. It runs only while any are held: an idle subscription
// costs no goroutine.
func (s *Subscription) deliverHeld() {
	for {
		next, ok := s.next()
		if !ok || !s.watcher.Deliver(s.ctx, next) {
			return
		}
		if s.removeFirst() {
			s.watcher.resume()
		}
	}
}

func (s *Subscription) next() (Delivery, bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if len(s.held) > 0 {
		return s.held[0].Delivery, true
	}
	s.held = nil
	s.delivering = false
	if s.failed != nil {
		s.cancel(s.failed)
	}
	return Delivery{}, false
}

// removeFirst removes the first event. It reports whether a watcher that waits for room can continue.
func (s *Subscription) removeFirst() bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.held[0] = held{}
	s.held = s.held[1:]
	if !s.full || len(s.held) > resumeBelow {
		return false
	}
	s.full = false
	return true
}
