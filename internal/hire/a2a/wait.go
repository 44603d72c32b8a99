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
	// running ends with close, which ends all waits, and refuses further ones.
	running context.Context
	close   context.CancelFunc
}

func newWaits() *waits {
	w := &waits{perTask: map[string]int{}}
	w.running, w.close = context.WithCancel(context.Background())
	return w
}

// begin adds a request for a conversation, until the context or the binding ends. It returns false if there are too
// many.
func (w *waits) begin(ctx context.Context, id string, limit time.Duration) (waiting context.Context, end func(), ok bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.running.Err() != nil || w.count >= maxWaiting || w.perTask[id] >= maxPerTask {
		return nil, nil, false
	}
	w.count++
	w.perTask[id]++
	waiting, cancel := context.WithTimeout(ctx, limit)
	stop := context.AfterFunc(w.running, cancel)
	return waiting, func() {
		stop()
		cancel()
		w.lock.Lock()
		defer w.lock.Unlock()
		w.count--
		if w.perTask[id]--; w.perTask[id] == 0 {
			delete(w.perTask, id)
		}
	}, true
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
		now, err := b.config.Service.Progress(ctx, id)
		if err != nil || !now.Equal(since.Progress) || !expires.IsZero() && now.Now.After(expires) {
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
