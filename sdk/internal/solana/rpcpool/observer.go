package rpcpool

import (
	"context"
	"time"
)

// Observer is told of each call.
type Observer interface {
	// Begin is told before a call; the context is what the call is made with.
	Begin(ctx context.Context, method string) (context.Context, Observation)
}

// Observation is told how a call goes on. Its methods may be called from several goroutines, Attempt also after End.
type Observation interface {
	// Attempt is told of one answer of one endpoint, or of its absence. A hedge is a request that has been made because another
	// endpoint was slow.
	Attempt(host string, took time.Duration, hedge bool, err error)
	// End is told of the call's result.
	End(err error)
}

// Health is what a pool knows of an endpoint.
type Health struct {
	Host string
	// Resting is until when it is asked only if no other endpoint is well; zero if it is well.
	Resting time.Time
	// Failures are those since its last good answer.
	Failures int
	// Requests and Errors are how often it has been asked, and how often in vain.
	Requests, Errors uint64
	// Latency is that of nineteen of twenty of its recent answers; zero if there are none.
	Latency time.Duration
	// Slot is the newest that it has shown, and Lag how many slots it was behind what had been seen when it last answered.
	Slot, Lag uint64
	// Err is its last error, and Method what it had been asked; nil after a good answer.
	Err    error
	Method string
}

// Health is that of the endpoints, in their order.
func (p *Pool) Health() []Health {
	all := make([]Health, len(p.endpoints))
	for i, e := range p.endpoints {
		all[i] = e.health(time.Now())
	}
	return all
}
