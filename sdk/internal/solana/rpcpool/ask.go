package rpcpool

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/haggle-protocol/haggle/sdk/internal/wait"
)

const (
	// BusyRounds is how often a request is made at most that everyone is too busy for.
	BusyRounds = 6
	// brokenRounds is how often a read is made if connections fail or everyone is behind. Whoever waits for something asks again.
	brokenRounds = 3
	// The pauses in between double, and vary by half.
	busyPause     = 250 * time.Millisecond
	brokenPause   = 100 * time.Millisecond
	longestPause  = 4 * time.Second
	pauseGrowth   = 2
	pauseVariance = 0.5
)

// rounds says how often a request may be made of everyone that has failed with an error.
func (r *request) rounds(err error) int {
	refusal := refusalOf(err)
	switch {
	case errors.Is(err, ErrOtherCluster), errors.Is(err, ErrClosed):
		return 1
	case refusal != nil && refusal.IsBusy():
		return BusyRounds
	case r.kind == read && (refusal == nil || refusal.mayPass()):
		return brokenRounds
	}
	return 1
}

// newPause is how long to wait between rounds, at first.
func newPause(first time.Duration) *backoff.ExponentialBackOff {
	pause := backoff.NewExponentialBackOff()
	pause.InitialInterval, pause.MaxInterval = first, longestPause
	pause.Multiplier, pause.RandomizationFactor = pauseGrowth, pauseVariance
	return pause
}

// firstPause is shorter after broken connections than if nodes need time.
func firstPause(failures []Failure) time.Duration {
	for _, failure := range failures {
		if refusalOf(failure.Err) != nil || errors.Is(failure.Err, ErrBehind) {
			return busyPause
		}
	}
	return brokenPause
}

// ask asks one endpoint after the other, as fit as they are, and again after a pause, until one gives a good answer.
func (p *Pool) ask(ctx context.Context, r *request) error {
	if r.outErr != nil {
		return r.outErr
	}
	r.floor = p.slots.floor(r.level)
	var pause *backoff.ExponentialBackOff
	if r.kind == read {
		p.hedges.earn()
	}
	// done are those whose refusal, of final, is their last word.
	var done []*endpoint
	var final, failures []Failure
	for round := 1; ; round++ {
		if err := p.awaitAnyone(ctx, r, failures); err != nil {
			return err
		}
		tried := slices.Clone(done)
		failures = slices.Clone(final)
		most := 1
		for {
			asked := len(tried)
			decoded, failed, ok := p.try(ctx, r, &tried)
			if ok {
				r.deliver(decoded)
				return nil
			}
			if ctx.Err() != nil {
				return p.interrupted(ctx, failures)
			}
			if len(tried) == asked {
				break
			}
			for i, failure := range failed {
				rounds := r.rounds(failure.Err)
				if rounds == 1 {
					done = append(done, tried[asked+i])
					final = append(final, failure)
				}
				most = max(most, rounds)
				failures = append(failures, failure)
			}
			if r.kind == once && most == 1 {
				return p.failed(failures)
			}
		}
		if len(failures) == 0 {
			if never, banned := p.nobody(); banned {
				return p.failed([]Failure{never})
			}
			// Somebody else has just been told to leave the last of them alone.
			round--
			continue
		}
		slices.SortStableFunc(failures, func(a, b Failure) int { return a.index - b.index })
		if round >= most {
			p.doubtFloor(r, failures)
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

// marked notes in refusals that the request had been made before.
func marked(failures []Failure, repeated bool) []Failure {
	for i := range failures {
		if refusal := refusalOf(failures[i].Err); refusal != nil && repeated {
			refusal.Repeated = true
			failures[i].Err = refusal
		}
	}
	return failures
}

// next is the endpoint that is the fittest for a request, apart from those that have been tried; nil if there is none.
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

// awaitAnyone waits while all endpoints have asked to be left alone.
func (p *Pool) awaitAnyone(ctx context.Context, r *request, before []Failure) error {
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
		return nil
	}
	if wait.For(ctx, earliest.Sub(now)) != nil {
		return p.interrupted(ctx, before)
	}
	return nil
}

// nobody is why there is no endpoint to be asked, now or later; false if there will be one.
func (p *Pool) nobody() (never Failure, banned bool) {
	for _, e := range p.endpoints {
		err := e.isBanned()
		if err == nil {
			return Failure{}, false
		}
		never = e.failure(err)
	}
	return never, true
}

// outcome is how an attempt has ended.
type outcome struct {
	endpoint *endpoint
	decoded  reflect.Value
	err      error
}

// try asks the fittest endpoint, and the next one too if that takes long. It adds to those that have been tried; the failures are
// in the same order.
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

func (p *Pool) tryHedged(ctx context.Context, r *request, first *endpoint, tried *[]*endpoint) (none reflect.Value, _ []Failure, _ bool) {
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(p.closing, cancel)()
	outcomes := make(chan outcome, 2)
	sent := make(chan struct{}, 2)
	launch := func(e *endpoint, hedge bool) {
		if !p.start(func() {
			watch := &stopwatch{started: func() { sent <- struct{}{} }}
			decoded, err := p.timedAttempt(limited, r, e, hedge, watch)
			if err != nil && p.closing.Err() != nil {
				err = ErrClosed
			}
			outcomes <- outcome{e, decoded, err}
		}) {
			outcomes <- outcome{endpoint: e, err: ErrClosed}
		}
	}
	launch(first, false)
	running := []*endpoint{first}
	failed := make(map[*endpoint]error, 2)
	// The first endpoint is slow only from the moment that the request is sent to it.
	var timer <-chan time.Time
	for len(running) > 0 {
		select {
		case <-ctx.Done():
			return none, nil, false
		case <-sent:
			if len(running) == 1 && timer == nil {
				timer = time.After(p.hedgeDelay(r, first))
			}
		case <-timer:
			if second := p.hedgeAt(r, *tried); second != nil {
				*tried = append(*tried, second)
				running = append(running, second)
				launch(second, true)
			}
		case ended := <-outcomes:
			running = slices.DeleteFunc(running, func(e *endpoint) bool { return e == ended.endpoint })
			if ended.err == nil {
				if slices.Contains(running, first) && first.failed(r, errOvertaken, time.Now()) {
					p.logger.Warn("a node has been slow for some time", "node", first.host, "method", r.method)
				}
				return ended.decoded, nil, true
			}
			failed[ended.endpoint] = ended.err
		}
	}
	var failures []Failure
	for _, e := range *tried {
		if err, ok := failed[e]; ok {
			failures = append(failures, e.failure(err))
		}
	}
	return none, failures, false
}

// hedgeDelay is how long the first endpoint may take alone.
func (p *Pool) hedgeDelay(r *request, first *endpoint) time.Duration {
	if p.hedgeAfter > 0 {
		return p.hedgeAfter
	}
	if took, ok := first.latencyOf(r.method); ok {
		return min(max(took, leastHedgeDelay), mostHedgeDelay)
	}
	return unknownHedgeDelay
}

const (
	leastHedgeDelay   = 10 * time.Millisecond
	mostHedgeDelay    = 3 * time.Second
	unknownHedgeDelay = 500 * time.Millisecond
)

// mayHedge says whether there is anyone else to be asked while an endpoint takes long.
func (p *Pool) mayHedge(r *request, tried []*endpoint) bool {
	return r.kind == read && p.hedgeAfter >= 0 && p.wellBeside(r, tried) != nil
}

func (p *Pool) wellBeside(r *request, tried []*endpoint) *endpoint {
	second := p.next(r, tried)
	if second == nil {
		return nil
	}
	if fitness, _ := second.fitness(r, time.Now()); fitness != well {
		return nil
	}
	return second
}

// hedgeAt is the second endpoint to be asked, which is then paid for.
func (p *Pool) hedgeAt(r *request, tried []*endpoint) *endpoint {
	second := p.wellBeside(r, tried)
	if second == nil || !p.hedges.take() {
		return nil
	}
	return second
}

// hedgeBudget keeps second requests from doubling the load when everything is slow: one for ten reads, and a few at once.
type hedgeBudget struct {
	lock  sync.Mutex
	spent float64
}

const (
	hedgesPerRead = 0.1
	hedgesAtOnce  = 10
)

func (b *hedgeBudget) earn() {
	b.lock.Lock()
	b.spent = max(0, b.spent-hedgesPerRead)
	b.lock.Unlock()
}

func (b *hedgeBudget) take() bool {
	b.lock.Lock()
	defer b.lock.Unlock()
	if b.spent+1 > hedgesAtOnce {
		return false
	}
	b.spent++
	return true
}
