package a2a

import (
	"context"
	"sync"
	"time"

	"github.com/haggle-protocol/haggle/internal/hire/service"
)

const (
	// maxWait bounds a response that waits for the worker: the longest timeout by default, and a minute.
	maxWait = 3 * time.Minute
	// maxStream bounds a stream. The client subscribes again.
	maxStream = 10 * time.Minute
	// pollEvery is the interval of the queries of a waiting request.
	pollEvery = 200 * time.Millisecond
	// maxWaiting limits the requests that wait, and maxPerTask those for one task.
	maxWaiting, maxPerTask = 64, 4
)

// waits counts the requests that wait for workers.
type waits struct {
	lock    sync.Mutex
	count   int
	perTask map[string]int
	ended   chan struct{}
}

func newWaits() *waits { return &waits{perTask: map[string]int{}, ended: make(chan struct{})} }

// begin adds a request for a conversation, until the context or the binding ends. It returns false if there are too
// many.
func (w *waits) begin(ctx context.Context, id string, limit time.Duration) (waiting context.Context, end func(), ok bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	select {
	case <-w.ended:
		return nil, nil, false
	default:
	}
	if w.count >= maxWaiting || w.perTask[id] >= maxPerTask {
		return nil, nil, false
	}
	w.count++
	w.perTask[id]++
	waiting, cancel := context.WithTimeout(ctx, limit)
	go func() {
		select {
		case <-w.ended:
			cancel()
		case <-waiting.Done():
		}
	}()
	return waiting, func() {
		cancel()
		w.lock.Lock()
		defer w.lock.Unlock()
		w.count--
		if w.perTask[id]--; w.perTask[id] == 0 {
			delete(w.perTask, id)
		}
	}, true
}

// close ends all waits, and refuses further ones.
func (w *waits) close() {
	w.lock.Lock()
	defer w.lock.Unlock()
	select {
	case <-w.ended:
	default:
		close(w.ended)
	}
}

// changed waits until the task of a conversation may have changed: by a message, by a delivery or by time. It returns
// false if ctx ends.
func (b *Binding) changed(ctx context.Context, id string, since *service.Thread) bool {
	expires := b.expiry(since)
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
		if !expires.IsZero() && b.config.Service.Now().After(expires) {
			return true
		}
		if now, err := b.config.Service.Progress(ctx, id); err != nil || !now.Equal(since.Progress) {
			return ctx.Err() == nil
		}
	}
}

// expiry returns the next time that changes a task without a message; zero if there is none.
func (b *Binding) expiry(thread *service.Thread) (next time.Time) {
	for _, at := range []time.Time{b.capabilityDue(thread), b.escrowDue(thread), deadlineOf(thread)} {
		if !at.Before(thread.Now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}
