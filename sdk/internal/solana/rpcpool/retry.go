package rpcpool

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

const (
	// BusyRounds limits the rounds for a request that all endpoints refuse because they are busy.
	BusyRounds = 6
	// brokenRounds limits the rounds for a read if connections fail or all endpoints are behind. Callers that
	// wait for a result repeat their request.
	brokenRounds = 3
	// The pause between rounds doubles and varies by half.
	busyPause     = 250 * time.Millisecond
	brokenPause   = 100 * time.Millisecond
	longestPause  = 4 * time.Second
	pauseGrowth   = 2
	pauseVariance = 0.5
)

// rounds returns the largest number of rounds for a request that failed everywhere with err.
func (r *request) rounds(err error) int {
	refusal := refusalOf(err)
	switch {
	case errors.Is(err, ErrClosed):
		return 1
	case refusal != nil && refusal.IsBusy():
		return BusyRounds
	case r.kind == read && (refusal == nil || mayPass(refusal)):
		return brokenRounds
	}
	return 1
}

// newPause returns the pauses between rounds, starting with first.
func newPause(first time.Duration) *backoff.ExponentialBackOff {
	return &backoff.ExponentialBackOff{
		InitialInterval: first, MaxInterval: longestPause,
		Multiplier: pauseGrowth, RandomizationFactor: pauseVariance,
	}
}

// firstPause is shorter after broken connections than after responses showing that nodes need time.
func firstPause(failures []Failure) time.Duration {
	for _, failure := range failures {
		if refusalOf(failure.Err) != nil || errors.Is(failure.Err, transaction.ErrBehind) {
			return busyPause
		}
	}
	return brokenPause
}

// retry sends a request until an endpoint returns a valid response.
func (p *Pool) retry(ctx context.Context, r *request) error {
	if r.kind == read {
		p.hedges.earn()
	}
	return p.inRounds(ctx, r, func(tried *[]*endpoint) ([]Failure, bool, error) {
		decoded, failed, ok := p.try(ctx, r, tried)
		if ok {
			r.deliver(decoded)
		}
		return failed, ok, nil
	})
}

// inRounds calls try until it reports the end of the request, or no further round is allowed. Each call of
// try uses the fittest endpoint not in tried, appends it, and returns the failures. A pause comes before the
// next round, which begins with all endpoints.
func (p *Pool) inRounds(
	ctx context.Context, r *request, try func(tried *[]*endpoint) (failed []Failure, ended bool, err error),
) error {
	r.floor = p.slots.floor(r.level)
	var pause *backoff.ExponentialBackOff
	var failures []Failure
	for round := 1; ; round++ {
		if err := p.awaitEndpoint(ctx, r, failures); err != nil {
			return err
		}
		var tried []*endpoint
		failures = nil
		most := 1
		for {
			asked := len(tried)
			failed, ended, err := try(&tried)
			if ended {
				return err
			}
			if ctx.Err() != nil {
				return p.interrupted(ctx, failures)
			}
			if len(tried) == asked {
				break
			}
			for _, failure := range failed {
				most = max(most, r.rounds(failure.Err))
			}
			failures = append(failures, failed...)
			if r.kind == once && most == 1 {
				return p.failed(failures)
			}
		}
		if len(failures) == 0 {
			// Another request has just received a Retry-After from the last available endpoint.
			round--
			continue
		}
		slices.SortStableFunc(failures, func(a, b Failure) int { return a.index - b.index })
		if round >= most {
			p.lowerFloor(r, failures)
			return p.failed(marked(failures, round > 1))
		}
		if pause == nil {
			pause = newPause(firstPause(failures))
		}
		if wait.For(ctx, pause.NextBackOff()) != nil {
			return p.interrupted(ctx, marked(failures, round > 1))
		}
	}
}

// marked sets Repeated in refusals if the request was sent before.
func marked(failures []Failure, repeated bool) []Failure {
	for i := range failures {
		if refusal := refusalOf(failures[i].Err); refusal != nil && repeated {
			refusal.Repeated = true
			failures[i].Err = refusal
		}
	}
	return failures
}

// next returns the fittest endpoint not in tried for a request, or nil.
func (p *Pool) next(r *request, tried []*endpoint) *endpoint {
	var best *endpoint
	bestFitness := unfit
	now := time.Now()
	for _, e := range p.endpoints {
		if slices.Contains(tried, e) {
			continue
		}
		if fitness, _ := e.fitness(r, now); fitness < bestFitness {
			best, bestFitness = e, fitness
		}
	}
	return best
}

// awaitEndpoint waits while every endpoint is within a Retry-After period. It returns an error if all are
// banned.
func (p *Pool) awaitEndpoint(ctx context.Context, r *request, before []Failure) error {
	now := time.Now()
	var earliest time.Time
	for _, e := range p.endpoints {
		fitness, until := e.fitness(r, now)
		if fitness < unfit {
			return nil
		}
		if !until.IsZero() && (earliest.IsZero() || until.Before(earliest)) {
			earliest = until
		}
	}
	if earliest.IsZero() {
		return p.failed(nil)
	}
	if wait.For(ctx, earliest.Sub(now)) != nil {
		return p.interrupted(ctx, before)
	}
	return nil
}

// outcome is an attempt's result.
type outcome struct {
	endpoint *endpoint
	decoded  reflect.Value
	err      error
}

// try sends the request to the fittest endpoint, and to the next endpoint too if the fittest is slow. It
// appends both to tried; the failures are in the same order.
func (p *Pool) try(ctx context.Context, r *request, tried *[]*endpoint) (reflect.Value, []Failure, bool) {
	first := p.next(r, *tried)
	if first == nil {
		return reflect.Value{}, nil, false
	}
	*tried = append(*tried, first)
	if !p.mayHedge(r, *tried) {
		decoded, err := p.attempt(ctx, r, first, false)
		return decoded, []Failure{first.failure(err)}, err == nil
	}
	return p.tryHedged(ctx, r, first, tried)
}
