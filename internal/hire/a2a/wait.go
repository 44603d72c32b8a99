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
	// pollEvery is how often a waiting request queries the database.
	pollEvery = 200 * time.Millisecond
	// maxWaiting limits all waiting requests, and maxPerTask limits them per task.
	maxWaiting, maxPerTask = 64, 4
)

// waits counts waiting requests.
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

// begin adds a request for a conversation, until the context or the binding ends. It returns false if too
// many are waiting.
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

// changed waits until a conversation's task may have changed: by new messages, deliveries or time. It returns
// false when ctx ends.
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

// expiry returns the next time at which time alone changes a task, or zero.
func (b *Binding) expiry(thread *service.Thread) (next time.Time) {
	for _, at := range []time.Time{b.capabilityDue(thread), b.escrowDue(thread), deadlineOf(thread)} {
		if !at.Before(thread.Now) && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	return next
}
