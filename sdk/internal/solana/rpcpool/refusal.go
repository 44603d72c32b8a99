package rpcpool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
)

// Refusal is what an endpoint answers a request with that it does not fulfil.
type Refusal struct {
	// Method is what has been refused, which may be something that the pool itself has asked before the request.
	Method string
	// Code is the JSON-RPC error code, or the HTTP status where there is no JSON-RPC answer.
	Code    int
	Message string
	// Data is what the node adds; nil if that is nothing.
	Data any
	// Status is the HTTP status; zero if it is not known.
	Status int
	// RetryAfter is how long the endpoint asks to be left alone; zero if it does not.
	RetryAfter time.Duration
	// Repeated says that the same has been asked before, of this endpoint or another, and that it is not known what became of it.
	Repeated bool
	// Err is the JSON-RPC client's error.
	Err error
}

func (r *Refusal) Error() string { return fmt.Sprintf("error %d: %s", r.Code, r.Message) }

// Unwrap is the JSON-RPC client's error.
func (r *Refusal) Unwrap() error { return r.Err }

// Numbers with which a node says that it does not have yet what it is asked for.
const (
	blockNotAvailable        = -32004
	nodeUnhealthy            = -32005
	blockStatusNotAvailable  = -32014
	minContextSlotNotReached = -32016
)

// A node's answers that no repetition changes.
const (
	MethodNotFound = -32601
	InvalidParams  = -32602
)

// Answers to sendTransaction of a node that has found fault with the transaction.
const (
	preflightFailure    = -32002
	signatureNotCorrect = -32003
)

const internalError = -32603

// IsBusy says whether a refusal is for the moment only: for a limit of the endpoint's own, or because it is behind.
func IsBusy(code int, message string) bool {
	switch code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
		blockNotAvailable, nodeUnhealthy, blockStatusNotAvailable, minContextSlotNotReached:
		return true
	case InvalidParams:
		// How Agave tells of a slot that is not complete yet in its own ledger.
		return strings.Contains(message, "slot unavailable")
	}
	return false
}

// IsBusy says whether the refusal is for the moment only.
func (r *Refusal) IsBusy() bool { return IsBusy(r.Code, r.Message) || IsBusy(r.Status, "") }

// mayPass says whether the next answer may be another one: a server between here and the node, or the node itself, has failed.
func (r *Refusal) mayPass() bool {
	return r.Code == internalError || r.Code == http.StatusRequestTimeout || r.Code >= http.StatusInternalServerError
}

// MeansNotForwarded says whether an answer to sendTransaction makes certain that the node has not passed the transaction on.
func MeansNotForwarded(code int) bool {
	switch code {
	case MethodNotFound, InvalidParams, preflightFailure, signatureNotCorrect:
		return true
	}
	return false
}

// isCertain says whether a refusal of sendTransaction leaves no doubt that the endpoint has not passed the transaction on.
func (r *Refusal) isCertain() bool { return MeansNotForwarded(r.Code) && !r.IsBusy() && !r.Repeated }

// knowsTransaction says whether a refusal of sendTransaction is for having been sent the transaction before.
func (r *Refusal) knowsTransaction() bool {
	data, _ := r.Data.(map[string]any)
	return data != nil && data["err"] == "AlreadyProcessed" || strings.Contains(r.Message, "already been processed")
}

// refusalOf makes a refusal of the JSON-RPC client's errors; nil if it is another one.
func refusalOf(err error) *Refusal {
	var refusal *Refusal
	if errors.As(err, &refusal) {
		return refusal
	}
	var answered *jsonrpc.RPCError
	if errors.As(err, &answered) {
		return &Refusal{Code: answered.Code, Message: answered.Message, Data: answered.Data, Err: answered}
	}
	var status *jsonrpc.HTTPError
	if errors.As(err, &status) {
		return &Refusal{Code: status.Code, Status: status.Code, Message: http.StatusText(status.Code), Err: status}
	}
	return nil
}

// ErrBehind: no endpoint has come as far as one of them had before.
var ErrBehind = errors.New("the node is behind what has been seen already")

// ErrWentBack: an endpoint is far behind what it has shown itself. It is not believed until it has come that far again, since what has
// been sent may have been executed in between.
var ErrWentBack = errors.New("the node has gone back, or its chain has been started anew, for which it takes a new client")

// ErrOtherCluster: an endpoint is of another chain than the first one.
var ErrOtherCluster = errors.New("the node is of another cluster")

// errSlow is what a request fails with that takes too long, while the caller would still wait.
type errSlow struct{ limit time.Duration }

func (e errSlow) Error() string { return fmt.Sprintf("no answer within %s", e.limit) }

// Timeout and Temporary make it an error of the network's.
func (e errSlow) Timeout() bool   { return true }
func (e errSlow) Temporary() bool { return true }

// Failure is why one endpoint has not fulfilled a request.
type Failure struct {
	Host string
	Err  error
	// index is the endpoint's, in their order.
	index int
}

// failure is that of one endpoint.
func (e *endpoint) failure(err error) Failure { return Failure{Host: e.host, Err: err, index: e.index} }

// Failures are why no endpoint has fulfilled a request, one for each that has been asked. With a single endpoint the pool's errors
// are that endpoint's.
type Failures []Failure

func (f Failures) Error() string {
	texts := make([]string, len(f))
	for i, failure := range f {
		texts[i] = failure.Host + ": " + failure.Err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap are the endpoints' errors.
func (f Failures) Unwrap() []error {
	all := make([]error, len(f))
	for i, failure := range f {
		all[i] = failure.Err
	}
	return all
}

// failed is the error of a request that has failed everywhere. It tells also of endpoints that are never asked again.
func (p *Pool) failed(failures []Failure) error {
	if len(p.endpoints) == 1 && len(failures) > 0 {
		return failures[len(failures)-1].Err
	}
	all := slices.Clone(failures)
	for _, e := range p.endpoints {
		is := func(failure Failure) bool { return failure.index == e.index }
		if err := e.isBanned(); err != nil && !slices.ContainsFunc(failures, is) {
			all = append(all, e.failure(err))
		}
	}
	return Failures(all)
}

// Interrupted is what a call fails with whose context has ended.
type Interrupted struct {
	// Cause is the context's, and Before what has gone wrong before; nil if nothing has.
	Cause, Before error
}

func (i *Interrupted) Error() string {
	if i.Before == nil {
		return i.Cause.Error()
	}
	return fmt.Sprintf("%v, after %v", i.Cause, i.Before)
}

// Unwrap is both.
func (i *Interrupted) Unwrap() []error {
	if i.Before == nil {
		return []error{i.Cause}
	}
	return []error{i.Cause, i.Before}
}

// interrupted is the error of a call whose context has ended.
func (p *Pool) interrupted(ctx context.Context, failures []Failure) error {
	cause := context.Cause(ctx)
	if !errors.Is(cause, ctx.Err()) {
		cause = fmt.Errorf("%w: %w", ctx.Err(), cause)
	}
	if len(failures) == 0 {
		return &Interrupted{Cause: cause}
	}
	return &Interrupted{Cause: cause, Before: p.failed(failures)}
}
