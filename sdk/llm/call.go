package llm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/semaphore"
)

// Pauses between retries without Retry-After.
const (
	firstPause = 500 * time.Millisecond
	lastPause  = 10 * time.Second
)

// Circuit breakers open after tripAfter consecutive failures, and permit one request after openFor.
const (
	tripAfter = 5
	openFor   = 30 * time.Second
)

// shortestCall is the least remaining time for a request.
const shortestCall = time.Second

// Failure tells why a model returned no usable answer: one of the constants below, never model output or an
// error text.
type Failure string

// The failures.
const (
	FailureBudget    Failure = "budget used up"
	FailureBreaker   Failure = "circuit breaker open"
	FailureTime      Failure = "no time left"
	FailureTimeout   Failure = "timeout"
	FailureTemporary Failure = "temporary failure"
	FailureRefusal   Failure = "refusal"
	FailureResponse  Failure = "unusable response"
	FailureInvalid   Failure = "invalid answer"
	FailureCancelled Failure = "cancelled"
	FailurePanic     Failure = "panic"
	FailureOther     Failure = "request failed"
)

var (
	errTimeout   = errors.New("llm: the model did not respond in time")
	errCancelled = errors.New("llm: the decision is no longer needed")
)

// caller sends requests to one model.
type caller struct {
	model    Model
	name     string
	ledger   *ledger
	breaker  *gobreaker.CircuitBreaker[*Response]
	places   *semaphore.Weighted
	timeout  time.Duration
	attempts int
}

func newCaller(model Model, ledger *ledger, o *Options) *caller {
	return &caller{
		model: model, name: model.Name(), ledger: ledger, timeout: o.CallTimeout, attempts: o.Attempts,
		places: semaphore.NewWeighted(int64(o.Concurrency)),
		breaker: gobreaker.NewCircuitBreaker[*Response](gobreaker.Settings{
			Name: model.Name(), Timeout: openFor,
			ReadyToTrip: func(counts gobreaker.Counts) bool { return counts.ConsecutiveFailures >= tripAfter },
			// Refusals depend on the prompt. The others never reach the model.
			IsExcluded: func(err error) bool {
				return errors.As(err, new(*RefusalError)) || errors.Is(err, ErrBudget) || errors.Is(err, errCancelled)
			},
		}),
	}
}

// called is the result of one model's requests for an answer.
type called struct {
	// json is nil after a failure.
	json     []byte
	failure  Failure
	status   int
	spent    spent
	duration time.Duration
}

// ask returns a model's response before the deadline, or at once if ctx ends. It sends no request that could
// exceed the budget.
func (c *caller) ask(ctx context.Context, negotiation string, request Request, deadline time.Time) called {
	begun := time.Now()
	ctx, cancel := context.WithDeadlineCause(ctx, deadline, errTimeout)
	defer cancel()
	result := called{failure: FailureTime}
	if deadline.Sub(begun) < shortestCall {
		return result
	}
	if c.places.Acquire(ctx, 1) != nil {
		if !isTimeout(ctx) {
			result.failure = FailureCancelled
		}
		return result
	}
	defer c.places.Release(1)
	if time.Until(deadline) < shortestCall {
		return result // the wait for a place has used the time up
	}
	result.failure = ""
	pauses := backoff.NewExponentialBackOff()
	pauses.InitialInterval, pauses.MaxInterval = firstPause, lastPause
	var failed error
	response, err := backoff.Retry(ctx, func() (*Response, error) {
		response, err := c.breaker.Execute(func() (*Response, error) {
			return c.call(ctx, negotiation, &request, &result)
		})
		failed = err
		return response, retryable(err)
	}, backoff.WithBackOff(pauses), backoff.WithMaxTries(uint(c.attempts)),
		backoff.WithMaxElapsedTime(deadline.Sub(begun)-shortestCall))
	result.duration = time.Since(begun)
	if err != nil {
		result.failure, result.status = failureOf(failed)
		return result
	}
	result.json = response.JSON
	return result
}

// call sends one request. It does not wait for models that ignore their context; their usage is settled when
// they return.
func (c *caller) call(
	ctx context.Context, negotiation string, request *Request, result *called,
) (*Response, error) {
	reserved, err := c.ledger.reserve(negotiation, c.name, request)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, c.timeout, errTimeout)
	defer cancel()
	type returned struct {
		response *Response
		err      error
		spent    spent
	}
	done := make(chan returned, 1)
	go func() {
		response, err := respond(ctx, c.model, *request)
		usage, unprocessed := usageOf(response, err)
		done <- returned{response, err, reserved.settle(usage, unprocessed)}
	}()
	select {
	case r := <-done:
		result.spent.add(r.spent)
		if r.err != nil && ctx.Err() != nil {
			return nil, ended(ctx)
		}
		return r.response, r.err
	case <-ctx.Done():
		result.spent.add(spent{requests: 1, assumed: reserved.used}) // until it returns
		return nil, ended(ctx)
	}
}

// ended returns errTimeout or errCancelled for an ended context.
func ended(ctx context.Context) error {
	if isTimeout(ctx) {
		return errTimeout
	}
	return errCancelled
}

func isTimeout(ctx context.Context) bool {
	return errors.Is(context.Cause(ctx), errTimeout) || errors.Is(context.Cause(ctx), context.DeadlineExceeded)
}

var errPanic = errors.New("llm: the model panicked")

// respond calls a model. A panic becomes errPanic.
func respond(ctx context.Context, model Model, request Request) (response *Response, err error) {
	defer func() {
		if recover() != nil {
			response, err = nil, errPanic
		}
	}()
	response, err = model.Respond(ctx, request)
	switch {
	case err == nil && response == nil:
		return nil, &ResponseError{Err: errors.New("no response and no error")}
	case err == nil && len(response.JSON) > maxAnswer:
		return nil, &ResponseError{Err: fmt.Errorf("longer than %d bytes", maxAnswer), Usage: response.Usage}
	}
	return response, err
}

// usageOf returns a request's usage, and whether the API rejected it unprocessed.
func usageOf(response *Response, err error) (usage Usage, unprocessed bool) {
	var (
		temporary *TemporaryError
		refusal   *RefusalError
		unusable  *ResponseError
	)
	switch {
	case err == nil:
		return response.Usage, false
	case errors.As(err, &temporary):
		return temporary.Usage, temporary.Status >= 400 && temporary.Status < 500
	case errors.As(err, &refusal):
		return refusal.Usage, false
	case errors.As(err, &unusable):
		return unusable.Usage, unusable.Unprocessed
	}
	return Usage{}, false
}

// retryable marks errors as permanent unless a later request may succeed.
func retryable(err error) error {
	var temporary *TemporaryError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &temporary) && temporary.RetryAfter > 0:
		return &backoff.RetryAfterError{Duration: temporary.RetryAfter}
	case temporary != nil, errors.Is(err, errTimeout):
		return err
	}
	return backoff.Permanent(err)
}

// failureOf returns an error's failure and HTTP status, or 0.
func failureOf(err error) (Failure, int) {
	var temporary *TemporaryError
	switch {
	case errors.As(err, &temporary):
		return FailureTemporary, temporary.Status
	case errors.Is(err, ErrBudget):
		return FailureBudget, 0
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests):
		return FailureBreaker, 0
	case errors.Is(err, errTimeout):
		return FailureTimeout, 0
	case errors.Is(err, errCancelled):
		return FailureCancelled, 0
	case errors.Is(err, errPanic):
		return FailurePanic, 0
	case errors.As(err, new(*RefusalError)):
		return FailureRefusal, 0
	case errors.As(err, new(*ResponseError)):
		return FailureResponse, 0
	}
	return FailureOther, 0
}
