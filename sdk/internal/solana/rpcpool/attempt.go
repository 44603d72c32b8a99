package rpcpool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/gagliardetto/solana-go/rpc"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// attemptLimit limits the time for an endpoint's response.
const attemptLimit = 30 * time.Second

// attempt sends the request to an endpoint once, and returns the response if it is valid.
func (p *Pool) attempt(ctx context.Context, r *request, e *endpoint, hedge bool) (reflect.Value, error) {
	return p.timedAttempt(ctx, r, e, hedge, new(stopwatch))
}

// timedAttempt is attempt with the caller's stopwatch.
func (p *Pool) timedAttempt(ctx context.Context, r *request, e *endpoint, hedge bool, watch *stopwatch) (reflect.Value, error) {
	decoded, err := p.answer(ctx, r, e, watch)
	if r.observation != nil {
		r.observation.Attempt(e.host, watch.elapsed(), hedge, err)
	}
	switch {
	case err == nil:
		if e.answered(r.method, watch.elapsed()) {
			p.logger.Info("a node is healthy again", "node", e.host)
		}
	case ctx.Err() != nil || errors.Is(err, transaction.ErrOtherCluster):
		// The caller has cancelled the request, or the error is already logged.
	default:
		p.logger.Debug("a node fails", "node", e.host, "method", r.method, "error", err)
		if e.failed(r, err, time.Now()) {
			p.logger.Warn("a node has been failing for some time", "node", e.host, "method", r.method, "error", err)
		}
	}
	return decoded, err
}

func (p *Pool) answer(ctx context.Context, r *request, e *endpoint, watch *stopwatch) (decoded reflect.Value, err error) {
	if err := p.admit(ctx, e, watch); err != nil {
		return decoded, err
	}
	// The floor at the request's start applies: slots observed later by other requests do not count. A floor
	// that has been lowered since counts.
	floor := min(r.floor, p.slots.floor(r.level))
	if len(p.endpoints) > 1 && !r.showsItsSlot() && !e.hasReached(r.level, floor) {
		if err := p.probe(ctx, r, e, floor, watch); err != nil {
			return decoded, err
		}
	}
	result, err := e.call(ctx, watch, r.method, r.paramsFrom(floor))
	if err != nil {
		return decoded, err
	}
	if err := r.check(result); err != nil {
		return decoded, malformedError{err}
	}
	if r.kind == read {
		slot, shown := r.slotOf(result)
		if shown {
			err = p.acceptSlot(e, r.level, slot, floor)
		} else if floor > 0 && r.mustShowItsSlot() {
			err = malformedError{fmt.Errorf("%w: the answer has no slot", errOther)}
		}
		if err != nil {
			return decoded, err
		}
		p.slots.raise(r.level, r.happenedAt(result))
	}
	if decoded, err = r.decode(result); err != nil {
		err = malformedError{err}
	}
	return decoded, err
}

// acceptSlot records a response's slot, and returns a behindError if it is below floor.
func (p *Pool) acceptSlot(e *endpoint, of level, slot, floor uint64) error {
	most := e.show(of, slot, floor)
	if slot < floor {
		return &behindError{slot: slot, seen: floor, most: most}
	}
	p.slots.raise(of, slot)
	return nil
}

var commitments = [levels]rpc.CommitmentType{rpc.CommitmentProcessed, rpc.CommitmentConfirmed, rpc.CommitmentFinalized}

// probe reads the endpoint's slot before a request whose response shows none, and returns a behindError if it
// is below floor.
func (p *Pool) probe(ctx context.Context, r *request, e *endpoint, floor uint64, watch *stopwatch) error {
	result, err := e.call(ctx, watch, "getSlot", []any{rpc.M{"commitment": commitments[r.level]}})
	if err != nil {
		return err
	}
	var slot uint64
	if err := json.Unmarshal(result, &slot); err != nil {
		return malformedError{fmt.Errorf("the node returns no slot: %w", err)}
	}
	return p.acceptSlot(e, r.level, slot, floor)
}
