package rpcpool

import (
	"context"
	"sync"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

// broadcastTo limits how many endpoints receive a transaction at once.
const broadcastTo = 3

// broadcast sends a transaction to several endpoints at once, and again after a pause while all are busy. A
// single acceptance is enough.
//
// If no endpoint accepts it, the error guarantees that the transaction was not forwarded only if every
// endpoint refused it with such a response, on the first attempt.
func (p *Pool) broadcast(ctx context.Context, r *request) error {
	pause := newPause(busyPause)
	var failures []Failure
	for round := 1; ; round++ {
		if err := p.awaitEndpoint(ctx, r, failures); err != nil {
			return err
		}
		targets := p.targets(r)
		if len(targets) == 0 {
			round--
			continue
		}
		outcomes := p.sendTo(ctx, r, targets)
		failures = nil
		busy := true
		for range targets {
			ended := <-outcomes
			if ended.err == nil {
				r.deliver(ended.decoded)
				return nil
			}
			refusal := refusalOf(ended.err)
			busy = busy && refusal != nil && refusal.IsBusy()
			failures = append(failures, ended.endpoint.failure(ended.err))
		}
		failures = markUncertain(failures, round > 1)
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

// sendTo sends to all targets. When a target accepts, unanswered requests continue in the background, until
// the context or the pool ends.
func (p *Pool) sendTo(ctx context.Context, r *request, targets []*endpoint) <-chan outcome {
	outcomes := make(chan outcome, len(targets))
	started := p.start(func() {
		limited, cancel := context.WithCancelCause(ctx)
		defer context.AfterFunc(p.closing, func() { cancel(ErrClosed) })()
		var sending sync.WaitGroup
		for _, e := range targets {
			sending.Go(func() {
				decoded, err := p.attempt(limited, r, e, false)
				outcomes <- outcome{e, decoded, err}
			})
		}
		sending.Wait()
		cancel(nil)
	})
	if !started {
		for _, e := range targets {
			outcomes <- outcome{endpoint: e, err: ErrClosed}
		}
	}
	return outcomes
}

// markUncertain marks every refusal as repeated if any endpoint may have forwarded the transaction.
func markUncertain(failures []Failure, repeated bool) []Failure {
	for _, failure := range failures {
		refusal := refusalOf(failure.Err)
		repeated = repeated || refusal == nil || !isCertain(refusal)
	}
	return marked(failures, repeated)
}
