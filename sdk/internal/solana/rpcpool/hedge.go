package rpcpool

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"
)

func (p *Pool) tryHedged(ctx context.Context, r *request, first *endpoint, tried *[]*endpoint) (none reflect.Value, _ []Failure, _ bool) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.closing, cancel)()
	outcomes := make(chan outcome, 2)
	sent := make(chan struct{}, 2)
	firstWatch := new(stopwatch)
	launch := func(e *endpoint, hedge bool, watch *stopwatch) {
		watch.started = func() { sent <- struct{}{} }
		if !p.start(func() {
			decoded, err := p.timedAttempt(limited, r, e, hedge, watch)
			if err != nil && p.closing.Err() != nil {
				err = ErrClosed
			}
			outcomes <- outcome{e, decoded, err}
		}) {
			outcomes <- outcome{endpoint: e, err: ErrClosed}
		}
	}
	launch(first, false, firstWatch)
	running := []*endpoint{first}
	failed := make(map[*endpoint]error, 2)
	// The delay of the preferred endpoint counts from the moment of sending.
	delay := p.hedgeDelay(r, first)
	var timer <-chan time.Time
	for len(running) > 0 {
		select {
		case <-ctx.Done():
			return none, nil, false
		case <-sent:
			if len(running) == 1 && timer == nil {
				timer = time.After(delay)
			}
		case <-timer:
			if second := p.next(r, *tried); second != nil && p.hedges.take() {
				*tried = append(*tried, second)
				running = append(running, second)
				launch(second, true, new(stopwatch))
			}
		case ended := <-outcomes:
			running = slices.DeleteFunc(running, func(e *endpoint) bool { return e == ended.endpoint })
			if ended.err == nil {
				// The preferred endpoint may have waited for the client's own rate limit for part of the
				// delay.
				slow := slices.Contains(running, first) && firstWatch.elapsed() >= delay
				if slow && first.failed(r, errOvertaken, time.Now()) {
					p.logger.Warn("a node has been slow for some time", "node", first.host, "method", r.method)
				}
				return ended.decoded, nil, true
			}
			failed[ended.endpoint] = ended.err
		}
	}
	var failures []Failure
	for _, e := range *tried {
		if err, ok := failed[e]; ok {
			failures = append(failures, e.failure(err))
		}
	}
	return none, failures, false
}

// hedgeDelay is how long the first endpoint may take before a second endpoint receives the request.
func (p *Pool) hedgeDelay(r *request, first *endpoint) time.Duration {
	if p.hedgeAfter > 0 {
		return p.hedgeAfter
	}
	if took, ok := first.latencyOf(r.method); ok {
		return min(max(took, leastHedgeDelay), mostHedgeDelay)
	}
	return unknownHedgeDelay
}

const (
	leastHedgeDelay   = 10 * time.Millisecond
	mostHedgeDelay    = 3 * time.Second
	unknownHedgeDelay = 500 * time.Millisecond
)

// mayHedge reports whether another endpoint exists for a request that may be hedged.
func (p *Pool) mayHedge(r *request, tried []*endpoint) bool {
	return r.kind == read && p.hedgeAfter >= 0 && p.next(r, tried) != nil
}

// hedgeBudget keeps hedges from doubling the load when all endpoints are slow: a hedge for ten reads, and ten
// at once.
type hedgeBudget struct {
	lock  sync.Mutex
	spent float64
}

const (
	hedgesPerRead = 0.1
	hedgesAtOnce  = 10
)

func (b *hedgeBudget) earn() {
	b.lock.Lock()
	b.spent = max(0, b.spent-hedgesPerRead)
	b.lock.Unlock()
}

func (b *hedgeBudget) take() bool {
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.spent+1 > hedgesAtOnce {
		return false
	}
	b.spent++
	return true
}
