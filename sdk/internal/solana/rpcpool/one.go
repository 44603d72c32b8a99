package rpcpool

import (
	"context"
	"errors"
)

// One is a single endpoint of a pool, for questions whose answers have to fit together.
type One struct {
	pool     *Pool
	endpoint *endpoint
	// anyAge says that an answer may be behind what others have shown.
	anyAge bool
}

// HoweverOld is the same endpoint, whose answers are taken even if it is behind what others have shown: for what stays true once it is,
// such as that a transaction has been executed. Whoever shows a slot that there has never been makes all others look as if they were
// behind.
func (o One) HoweverOld() One {
	o.anyAge = true
	return o
}

// Size is how many endpoints there are.
func (p *Pool) Size() int { return len(p.endpoints) }

// Each has something done with one endpoint after the other, the fittest first, as long as that says that it is to go on. Endpoints
// that have asked to be left alone are.
func (p *Pool) Each(method string, do func(One) (goOn bool)) {
	request := newRequest(method, nil, nil)
	var tried []*endpoint
	for e := p.next(request, tried); e != nil; e = p.next(request, tried) {
		tried = append(tried, e)
		if !do(One{pool: p, endpoint: e}) {
			return
		}
	}
}

var errNotARead = errors.New("one node alone is only asked what changes nothing")

// Call makes a read of the endpoint, once, and decodes its result into out, which stays as it is if there is an error. An answer that
// is behind what any endpoint has shown is [ErrBehind], unless it may be: see HoweverOld.
func (o One) Call(ctx context.Context, out any, method string, params []any) error {
	request := newRequest(method, params, out)
	if o.pool.observer == nil {
		return o.call(ctx, request)
	}
	ctx, request.observation = o.pool.observer.Begin(ctx, method)
	err := o.call(ctx, request)
	request.observation.End(err)
	return err
}

func (o One) call(ctx context.Context, request *request) error {
	if request.outErr != nil {
		return request.outErr
	}
	if request.kind != read {
		return errNotARead
	}
	if !o.anyAge {
		request.floor = o.pool.slots.floor(request.level)
	}
	decoded, err := o.pool.attempt(ctx, request, o.endpoint, false)
	switch {
	case err == nil:
		request.deliver(decoded)
		return nil
	case ctx.Err() != nil:
		return o.pool.interrupted(ctx, nil)
	}
	return err
}
