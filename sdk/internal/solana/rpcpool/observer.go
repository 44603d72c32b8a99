package rpcpool

import (
	"context"
	"time"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Observer observes calls.
type Observer interface {
	// Begin is called before a call; the call uses the returned context.
	Begin(ctx context.Context, method string) (context.Context, Observation)
}

// Observation observes a call. It is safe for concurrent use, and Attempt may also be called after End.
type Observation interface {
	// Attempt is called for each present or missing endpoint response. A hedge is a second request, sent
	// because the first endpoint was slow.
	Attempt(host string, took time.Duration, hedge bool, err error)
	// End is called with the call's result.
	End(err error)
}

// Health returns the health of the endpoints, in their order.
func (p *Pool) Health() []transaction.NodeHealth {
	all := make([]transaction.NodeHealth, len(p.endpoints))
	for i, e := range p.endpoints {
		all[i] = e.health(time.Now())
	}
	return all
}
