package rpcpool

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// endpoint is a node and the node's state.
type endpoint struct {
	index     int
	host      string
	transport Transport
	limiter   *rate.Limiter
	// admitted reports whether the cluster is verified; admitting holds a value during the check.
	admitted  atomic.Bool
	admitting chan struct{}

	lock sync.Mutex
	// banned is the reason why the endpoint receives no more requests.
	banned error
	// notBefore ends the endpoint's Retry-After; until restUntil it serves requests only if no other endpoint
	// is healthy.
	notBefore, restUntil time.Time
	failures             int
	requests, errors     uint64
	lastErr              error
	lastMethod           string
	// shown holds the slots of the latest responses, most the newest of all.
	shown, most [levels]uint64
	lag         uint64
	// latencies holds the latencies by method.
	latencies map[string]*latencies
	// unsupported holds the methods that the endpoint does not support.
	unsupported map[string]bool
}

const (
	// The rest doubles after each failure in a row and varies by half.
	firstRest = 250 * time.Millisecond
	longRest  = 30 * time.Second
	// warnAfter counts the failures in a row until a warning is logged.
	warnAfter = 3
)

func (e *endpoint) isBanned() error {
	e.lock.Lock()
	defer e.lock.Unlock()
	return e.banned
}

// ban excludes an endpoint from all requests.
func (e *endpoint) ban(err error) {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.banned = err
}

// forget drops the endpoint's observed slots and ban.
func (e *endpoint) forget() {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.banned, e.shown, e.most, e.lag = nil, [levels]uint64{}, [levels]uint64{}, 0
}

// await waits until the client's rate limit admits a request to the endpoint.
func (e *endpoint) await(ctx context.Context) error {
	if e.limiter == nil {
		return nil
	}
	reservation := e.limiter.Reserve()
	if err := wait.For(ctx, reservation.Delay()); err != nil {
		reservation.Cancel()
		return err
	}
	return nil
}

// stopwatch measures an endpoint's latency. It does not run while a request waits for the client's own rate
// limit.
type stopwatch struct {
	// started is called when the first request is sent; nil calls nothing.
	started func()

	lock sync.Mutex
	// took is the time of the ended requests, and began the start of the request in flight, if any.
	took  time.Duration
	began time.Time
}

func (w *stopwatch) start() {
	if w.started != nil {
		w.started()
		w.started = nil
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	w.began = time.Now()
}

// stop does nothing if no request is in flight.
func (w *stopwatch) stop() {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.took, w.began = w.elapsedLocked(), time.Time{}
}

// elapsed returns the time that the endpoint had to respond.
func (w *stopwatch) elapsed() time.Duration {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.elapsedLocked()
}

func (w *stopwatch) elapsedLocked() time.Duration {
	if w.began.IsZero() {
		return w.took
	}
	return w.took + time.Since(w.began)
}

// call sends a request to the endpoint when the rate limit admits it. The endpoint has attemptLimit to
// answer; the time that the request waits for the rate limit does not count.
func (e *endpoint) call(ctx context.Context, watch *stopwatch, method string, params []any) (json.RawMessage, error) {
	if err := e.await(ctx); err != nil {
		return nil, err
	}
	limited, cancel := context.WithTimeoutCause(ctx, attemptLimit, errSlow{attemptLimit})
	defer cancel()
	watch.start()
	result, err := e.transport.Call(limited, method, params)
	watch.stop()
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		err = errSlow{attemptLimit}
	}
	if refusal := refusalOf(err); refusal != nil {
		refusal.Method = method
		return nil, refusal
	}
	return result, err
}

// Endpoint fitness for a request, the best first.
const (
	healthy = iota
	limited
	resting
	lacking
	unfit
)

// fitness returns the endpoint's fitness for a request, and the end of any Retry-After.
func (e *endpoint) fitness(r *request, now time.Time) (int, time.Time) {
	e.lock.Lock()
	defer e.lock.Unlock()
	switch {
	case e.banned != nil:
		return unfit, time.Time{}
	case now.Before(e.notBefore):
		return unfit, e.notBefore
	case e.unsupported[r.method]:
		return lacking, time.Time{}
	case now.Before(e.restUntil):
		return resting, time.Time{}
	case e.limiter != nil && e.limiter.TokensAt(now) < 1:
		return limited, time.Time{}
	}
	return healthy, time.Time{}
}

// answered records a valid response. It reports whether the endpoint had been failing for some time.
func (e *endpoint) answered(method string, took time.Duration) (recovered bool) {
	e.lock.Lock()
	defer e.lock.Unlock()
	recovered = e.failures >= warnAfter
	e.requests++
	e.failures, e.restUntil, e.lastErr = 0, time.Time{}, nil
	if e.latencies == nil {
		e.latencies = make(map[string]*latencies)
	}
	if e.latencies[method] == nil {
		e.latencies[method] = new(latencies)
	}
	e.latencies[method].add(took)
	return recovered
}

// errOvertaken is recorded for an endpoint that did not respond within the hedge delay, if the hedge responds
// first.
var errOvertaken = errors.New("the node is slow")

// failed records an invalid or missing response. It reports whether the endpoint just failed for the
// warnAfter-th time in a row.
func (e *endpoint) failed(r *request, err error, now time.Time) (warn bool) {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.requests++
	e.errors++
	e.lastErr, e.lastMethod = err, r.method
	refusal := refusalOf(err)
	if refusal != nil && refusal.RetryAfter > 0 {
		e.notBefore = now.Add(refusal.RetryAfter)
	}
	if refusal != nil && refusal.Code == transaction.CodeMethodNotFound {
		if e.unsupported == nil {
			e.unsupported = make(map[string]bool)
		}
		e.unsupported[refusal.Method] = true
	}
	if refusal != nil && !isTheEndpointsFault(refusal) {
		return false
	}
	e.failures++
	e.restUntil = now.Add(e.rest())
	return e.failures == warnAfter
}

// isTheEndpointsFault reports whether the endpoint, not the request, caused the refusal.
func isTheEndpointsFault(r *transaction.NodeError) bool {
	switch r.Code {
	case transaction.CodeBlockNotAvailable, transaction.CodeBlockStatusNotAvailable, transaction.CodeMinContextSlotNotReached:
		return false
	}
	return r.IsBusy() || r.Code == internalError || r.Code > 0
}

// rest returns the pause between requests, given the present number of failures in a row.
func (e *endpoint) rest() time.Duration {
	rest := longRest
	if doublings := e.failures - 1; doublings < 10 {
		rest = min(firstRest<<doublings, longRest)
	}
	return rest/2 + rand.N(rest)
}

// show records a response's slot and the distance to the floor. It returns the endpoint's newest slot before
// that.
func (e *endpoint) show(of level, slot, floor uint64) (most uint64) {
	e.lock.Lock()
	defer e.lock.Unlock()
	most = slices.Max(e.most[of:])
	e.shown[of], e.most[of] = slot, max(e.most[of], slot)
	e.lag = floor - min(floor, slot)
	return most
}

// hasReached reports whether the endpoint's latest responses reached a slot.
func (e *endpoint) hasReached(of level, slot uint64) bool {
	e.lock.Lock()
	defer e.lock.Unlock()
	return slices.Max(e.shown[of:]) >= slot
}

func (e *endpoint) health(now time.Time) transaction.NodeHealth {
	e.lock.Lock()
	defer e.lock.Unlock()
	health := transaction.NodeHealth{
		Host: e.host, Failures: e.failures, Requests: e.requests, Errors: e.errors,
		Slot: slices.Max(e.shown[:]), Lag: e.lag, Err: e.lastErr, Method: e.lastMethod,
	}
	if e.banned != nil {
		health.Err, health.Method = e.banned, "getGenesisHash"
	}
	for _, until := range []time.Time{e.notBefore, e.restUntil} {
		if until.After(now) && until.After(health.Resting) {
			health.Resting = until
		}
	}
	for _, of := range e.latencies {
		health.Latency = max(health.Latency, of.slowest())
	}
	return health
}

// latencyOf returns the 95th percentile of the method's recent latencies; false if there are none.
func (e *endpoint) latencyOf(method string) (time.Duration, bool) {
	e.lock.Lock()
	defer e.lock.Unlock()
	of := e.latencies[method]
	if of == nil {
		return 0, false
	}
	return of.slowest(), true
}

// latencies holds the latencies of the latest responses.
type latencies struct {
	took  [40]time.Duration
	count int
}

func (l *latencies) add(took time.Duration) {
	l.took[l.count%len(l.took)] = took
	l.count++
}

// slowest returns the 95th percentile.
func (l *latencies) slowest() time.Duration {
	n := min(l.count, len(l.took))
	sorted := l.took
	slices.Sort(sorted[:n])
	return sorted[(n*19-1)/20]
}
