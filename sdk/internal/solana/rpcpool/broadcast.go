package rpcpool

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/node"
)

// broadcastTo is the number of endpoints that get a transaction at once.
const broadcastTo = 3

// broadcast sends a transaction to several endpoints at once, and again after a pause while all are busy. One
// acceptance is enough.
//
// If no endpoint accepts it, the error guarantees that the transaction was not forwarded only if every
// endpoint refused it with such an answer, on the first attempt.
func (p *Pool) broadcast(ctx context.Context, r *request) error {
	if r.outErr != nil {
		return r.outErr
	}
	pause := newPause(busyPause)
	var failures []Failure
	for round := 1; ; round++ {
		if err := p.awaitEndpoint(ctx, r, failures); err != nil {
			return err
		}
		targets := p.targets(r)
		if len(targets) == 0 {
			if never, banned := p.allBanned(); banned {
				return p.failed([]Failure{never})
			}
			round--
			continue
		}
		outcomes := p.sendTo(ctx, r, targets)
		failures = nil
		busy := true
		for range targets {
			ended, ok := <-outcomes
			if !ok {
				break
			}
			if ended.err == nil {
				r.deliver(ended.decoded)
				return nil
			}
			refusal := refusalOf(ended.err)
			busy = busy && refusal != nil && refusal.IsBusy()
			failures = append(failures, ended.endpoint.failure(ended.err))
		}
		failures = worstFirst(failures, round > 1)
		if ctx.Err() != nil {
			return p.interrupted(ctx, failures)
		}
		if !busy || round == BusyRounds {
			return p.failed(failures)
		}
		if wait.For(ctx, pause.NextBackOff()) != nil {
			return p.interrupted(ctx, failures)
		}
	}
}

// targets returns the fittest endpoints.
func (p *Pool) targets(r *request) []*endpoint {
	var targets []*endpoint
	for len(targets) < broadcastTo {
		e := p.next(r, targets)
		if e == nil {
			break
		}
		targets = append(targets, e)
	}
	return targets
}

// sendTo sends to all targets. Requests that are unanswered when the first target accepts continue in the
// background.
func (p *Pool) sendTo(ctx context.Context, r *request, targets []*endpoint) <-chan outcome {
	outcomes := make(chan outcome, len(targets))
	if len(targets) == 1 {
		decoded, err := p.attempt(ctx, r, targets[0], false)
		outcomes <- outcome{targets[0], decoded, err}
		return outcomes
	}
	detached, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	var taken atomic.Bool
	leave := context.AfterFunc(ctx, func() {
		if !taken.Load() {
			cancel(context.Cause(ctx))
		}
	})
	end := context.AfterFunc(p.closing, func() { cancel(ErrClosed) })
	left := new(atomic.Int64)
	left.Store(int64(len(targets)))
	for _, e := range targets {
		send := func() {
			ended := outcome{endpoint: e}
			ended.decoded, ended.err = p.attempt(detached, r, e, false)
			if ended.err == nil {
				taken.Store(true)
			}
			outcomes <- ended
			if left.Add(-1) == 0 {
				leave()
				end()
				cancel(nil)
			}
		}
		if !p.start(send) {
			outcomes <- outcome{endpoint: e, decoded: reflect.Value{}, err: ErrClosed}
			if left.Add(-1) == 0 {
				leave()
				end()
				cancel(nil)
			}
		}
	}
	return outcomes
}

// worstFirst sorts the answers to a transaction: first endpoints that may have forwarded it, then those that
// already know it, then those that have not forwarded it. If any endpoint may have forwarded it, every
// refusal is marked as repeated.
func worstFirst(failures []Failure, repeated bool) []Failure {
	for _, failure := range failures {
		refusal := refusalOf(failure.Err)
		repeated = repeated || !isRefusedBeforeSending(failure.Err) && (refusal == nil || !isCertain(refusal))
	}
	failures = marked(failures, repeated)
	slices.SortStableFunc(failures, func(a, b Failure) int { return cmp.Compare(certainty(a.Err), certainty(b.Err)) })
	return failures
}

// isRefusedBeforeSending reports whether the pool failed before it sent the request to the endpoint.
func isRefusedBeforeSending(err error) bool {
	return errors.Is(err, node.ErrOtherCluster) || errors.Is(err, ErrClosed)
}

func certainty(err error) int {
	refusal := refusalOf(err)
	switch {
	case refusal == nil || !MeansNotForwarded(refusal) || refusal.IsBusy():
		return 0
	case knowsTransaction(refusal):
		return 1
	}
	return 2
}
