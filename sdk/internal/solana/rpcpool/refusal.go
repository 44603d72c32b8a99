package rpcpool

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// JSON-RPC codes of a node that rejects a transaction in sendTransaction.
const (
	preflightFailure    = -32002
	signatureNotCorrect = -32003
)

const internalError = -32603

// mayPass reports whether a repetition may succeed, because the node or a server in front of it failed.
func mayPass(r *transaction.NodeError) bool {
	return r.Code == internalError || r.Code == http.StatusRequestTimeout || r.Code >= http.StatusInternalServerError
}

// MeansNotForwarded reports whether a response to sendTransaction guarantees that the node did not forward
// the transaction.
func MeansNotForwarded(r *transaction.NodeError) bool {
	switch r.Code {
	case transaction.CodeMethodNotFound, transaction.CodeInvalidParams, preflightFailure, signatureNotCorrect:
		return true
	}
	return false
}

// isCertain reports whether a refusal of sendTransaction guarantees that the endpoint did not forward the
// transaction. An endpoint that already knows it proves that another endpoint did.
func isCertain(r *transaction.NodeError) bool {
	data, _ := r.Data.(map[string]any)
	known := data["err"] == "AlreadyProcessed" || strings.Contains(r.Message, "already been processed")
	return MeansNotForwarded(r) && !r.IsBusy() && !known
}

// refusalOf returns the refusal in a transport error, or nil.
func refusalOf(err error) *transaction.NodeError {
	var refusal *transaction.NodeError
	errors.As(err, &refusal)
	return refusal
}

// errSlow is the error of requests that exceed the pool's time limit before the caller's.
type errSlow struct{ limit time.Duration }

func (e errSlow) Error() string { return fmt.Sprintf("no answer within %s", e.limit) }

// Timeout and Temporary make errSlow a net.Error.
func (e errSlow) Timeout() bool   { return true }
func (e errSlow) Temporary() bool { return true }

// Failure is the reason why an endpoint did not fulfill a request.
type Failure struct {
	Host string
	Err  error
	// index is the endpoint's position.
	index int
}

// failure returns err as the endpoint's failure.
func (e *endpoint) failure(err error) Failure { return Failure{Host: e.host, Err: err, index: e.index} }

// Failures lists the reasons why no endpoint fulfilled a request, for each endpoint that received it. With a
// single endpoint the pool's errors are that endpoint's.
type Failures []Failure

func (f Failures) Error() string {
	texts := make([]string, len(f))
	for i, failure := range f {
		texts[i] = failure.Host + ": " + failure.Err.Error()
	}
	return strings.Join(texts, "; ")
}

// Unwrap returns the endpoints' errors.
func (f Failures) Unwrap() []error {
	all := make([]error, len(f))
	for i, failure := range f {
		all[i] = failure.Err
	}
	return all
}

// failed returns the error of a request that failed everywhere, including the reasons of banned endpoints.
func (p *Pool) failed(failures []Failure) error {
	all := slices.Clone(failures)
	for _, e := range p.endpoints {
		is := func(failure Failure) bool { return failure.index == e.index }
		if err := e.isBanned(); err != nil && !slices.ContainsFunc(failures, is) {
			all = append(all, e.failure(err))
		}
	}
	if len(p.endpoints) == 1 {
		return all[len(all)-1].Err
	}
	return Failures(all)
}

// Interrupted is the error of a call whose context ended.
type Interrupted struct {
	// Cause is the context's cause. Before is the last failure before that, or nil.
	Cause, Before error
}

func (i *Interrupted) Error() string {
	if i.Before == nil {
		return i.Cause.Error()
	}
	return fmt.Sprintf("%v, after %v", i.Cause, i.Before)
}

// Unwrap returns both.
func (i *Interrupted) Unwrap() []error {
	if i.Before == nil {
		return []error{i.Cause}
	}
	return []error{i.Cause, i.Before}
}

// TransactionOutcome returns [transaction.Unknown]: the cause is the caller's, and can be about another
// transaction.
func (i *Interrupted) TransactionOutcome() transaction.Outcome { return transaction.Unknown }

// interrupted returns the error of a call whose context ended.
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
