package rpcpool

import (
	"context"
	"time"
)

// Observer observes calls.
type Observer interface {
	// Begin is called before a call; the call uses the returned context.
	Begin(ctx context.Context, method string) (context.Context, Observation)
}

// Observation observes one call. Its methods may be called from several goroutines, Attempt also after End.
type Observation interface {
	// Attempt is called for each answer, or missing answer, of an endpoint. A hedge is a second request that
	// was sent because the first endpoint was slow.
	Attempt(host string, took time.Duration, hedge bool, err error)
	// End is called with the call's result.
	End(err error)
}

// Health is the pool's view of an endpoint.
type Health struct {
	Host string
	// Until Resting the endpoint gets requests only if no other endpoint is healthy; zero if it is healthy
	// itself.
	Resting time.Time
	// Failures is the number of failures since its last valid answer.
	Failures int
	// Requests and Errors count its requests and its failures.
	Requests, Errors uint64
	// Latency is the highest 95th percentile of its recent latencies of a method; zero if there are none.
	Latency time.Duration
	// Slot is its newest slot. Lag is its distance in slots to the newest observed slot at its latest answer.
	Slot, Lag uint64
	// Err is its last error, and Method the request's method; nil after a valid answer.
	Err    error
	Method string
}

// Health returns the health of the endpoints, in their order.
func (p *Pool) Health() []Health {
	all := make([]Health, len(p.endpoints))
	for i, e := range p.endpoints {
		all[i] = e.health(time.Now())
	}
	return all
}
