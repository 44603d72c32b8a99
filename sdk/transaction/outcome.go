package transaction

import (
	"fmt"
	"reflect"

	"github.com/gagliardetto/solana-go"
)

// Outcome is a transaction's outcome, which decides whether it may be repeated.
type Outcome uint8

// The outcomes. After Unknown, the zero value, nothing may be repeated.
const (
	// Unknown: the transaction was sent and may still be executed, or nothing proves that it was not
	// executed.
	Unknown Outcome = iota
	// Confirmed: the transaction was executed, and the effects are final at the requested commitment.
	Confirmed
	// Failed: the transaction was executed and failed. The fee was paid and nothing else changed.
	Failed
	// Expired: the transaction was not executed and never will be. The instructions are safe to send again.
	Expired
	// NotSent: the transaction was not sent, or no node forwarded it. The instructions are safe to send
	// again.
	NotSent
)

var outcomeNames = [...]string{
	Unknown:   "unknown",
	Confirmed: "confirmed",
	Failed:    "failed",
	Expired:   "expired",
	NotSent:   "not sent",
}

func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome %d", uint8(o))
}

// IsFinal reports whether the outcome can no longer change.
func (o Outcome) IsFinal() bool { return o > Unknown && int(o) < len(outcomeNames) }

// MarshalText returns the outcome's name. It fails for a number that is no outcome.
func (o Outcome) MarshalText() ([]byte, error) {
	if int(o) >= len(outcomeNames) {
		return nil, fmt.Errorf("invalid %s", o)
	}
	return []byte(o.String()), nil
}

// UnmarshalText decodes a name encoded by MarshalText.
func (o *Outcome) UnmarshalText(text []byte) error {
	for i, name := range outcomeNames {
		if name == string(text) {
			*o = Outcome(i)
			return nil
		}
	}
	return fmt.Errorf("unknown outcome name %q", text)
}

// Stater is an error that states a transaction's outcome.
type Stater interface {
	error
	TransactionOutcome() Outcome
}

// OutcomeOf returns a transaction's outcome, given the sender's error:
//
//	switch transaction.OutcomeOf(err) {
//	case transaction.Confirmed:
//	case transaction.Failed: // err says why
//	case transaction.Expired, transaction.NotSent: // safe to repeat
//	case transaction.Unknown: // read the state before anything is repeated
//	}
//
// The default is Unknown: an error states another outcome with a method TransactionOutcome ([Stater]), even
// if wrapped with %w. Any other error is Unknown: a context's or a connection's own, an error formatted with
// %v, a nil pointer, and several errors if any of them proves nothing.
func OutcomeOf(err error) Outcome {
	if value := reflect.ValueOf(err); value.Kind() == reflect.Pointer && value.IsNil() {
		return Unknown // the method may panic
	}
	switch e := err.(type) {
	case nil:
		return Confirmed
	case Stater:
		return e.TransactionOutcome()
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return OutcomeOf(inner)
		}
	case interface{ Unwrap() []error }:
		return outcomeOfAll(e.Unwrap())
	}
	return Unknown
}

// OfFailure returns the outcome of a transaction that was refused in the simulation or by the node, if
// signature is zero, or that was executed and failed.
func OfFailure(signature solana.Signature) Outcome {
	if signature.IsZero() {
		return NotSent
	}
	return Failed
}

// WithOutcome returns an error that states an outcome instead of the wrapped outcome, for example an error
// from before the send, or a context's cause, which with golang.org/x/sync/errgroup is about another
// transaction.
func WithOutcome(err error, outcome Outcome) error { return &stated{err, outcome} }

type stated struct {
	error
	outcome Outcome
}

// Unwrap returns the reason.
func (s *stated) Unwrap() error { return s.error }

// TransactionOutcome returns the stated outcome.
func (s *stated) TransactionOutcome() Outcome { return s.outcome }

// outcomeOfAll returns the outcome that all errors agree on, otherwise Unknown. Beside ErrDetailsUnavailable
// the others are reasons.
func outcomeOfAll(errs []error) Outcome {
	if len(errs) == 0 {
		return Unknown
	}
	first := OutcomeOf(errs[0])
	if errs[0] == ErrDetailsUnavailable {
		return first
	}
	for _, err := range errs[1:] {
		if OutcomeOf(err) != first {
			return Unknown
		}
	}
	return first
}
