package rpcpool

import (
	"context"
	"time"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

// Single is a single endpoint of the pool, for requests that need consistent responses.
type Single struct {
	pool     *Pool
	endpoint *endpoint
	// anyAge reports whether a response may be older than other endpoints' responses.
	anyAge bool
}

// Host returns the endpoint's host, as errors and logs name it.
func (s Single) Host() string { return s.endpoint.host }

// HoweverOld returns the same endpoint, and accepts responses even if they are behind other endpoints'
// responses: for facts that stay true, such as that a transaction was executed. An endpoint that shows a slot
// that never existed makes all others seem behind.
func (s Single) HoweverOld() Single {
	s.anyAge = true
	return s
}

// Size returns the number of endpoints.
func (p *Pool) Size() int { return len(p.endpoints) }

// All returns every endpoint of this cluster, in the configured order, for facts that no endpoint alone can
// prove. Their responses may be of any age, and their calls wait until any Retry-After has passed.
func (p *Pool) All() []Single {
	var all []Single
	for _, e := range p.endpoints {
		if e.isBanned() == nil {
			all = append(all, Single{pool: p, endpoint: e, anyAge: true})
		}
	}
	return all
}

// Each calls do with the endpoints, sequentially and the fittest first, until it returns false. It skips
// endpoints that are banned or sent a Retry-After that has not passed.
func (p *Pool) Each(method string, do func(Single) (next bool)) {
	request := newRequest(method, nil, nil)
	var tried []*endpoint
	for e := p.next(request, tried); e != nil; e = p.next(request, tried) {
		tried = append(tried, e)
		if !do(Single{pool: p, endpoint: e}) {
			return
		}
	}
}

// Call sends a read request to the endpoint and decodes the result into out, which does not change if there
// is an error. It returns [transaction.ErrBehind] for a response behind other endpoints' responses, unless
// HoweverOld allows it.
func (s Single) Call(ctx context.Context, out any, method string, params []any) error {
	return s.pool.observed(ctx, newRequest(method, params, out), s.call)
}

func (s Single) call(ctx context.Context, request *request) error {
	if _, until := s.endpoint.fitness(request, time.Now()); !until.IsZero() {
		if err := wait.For(ctx, time.Until(until)); err != nil {
			return s.pool.interrupted(ctx, nil)
		}
	}
	if !s.anyAge {
		request.floor = s.pool.slots.floor(request.level)
	}
	decoded, err := s.pool.attempt(ctx, request, s.endpoint, false)
	switch {
	case err == nil:
		request.deliver(decoded)
		return nil
	case ctx.Err() != nil:
		return s.pool.interrupted(ctx, nil)
	}
	return err
}
