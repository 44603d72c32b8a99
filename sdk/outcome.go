package haggle

import (
	"context"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
)

// Outcome is the outcome of a transaction, which decides whether its action may be repeated.
type Outcome uint8

// The outcomes. After OutcomeUnknown, the zero value, nothing may be repeated.
const (
	// OutcomeUnknown: the transaction has been sent and may still be executed, or nothing proves that it has
	// not been executed. [Client.Outcome] waits for the outcome, or [Client.Recover] with a journal.
	OutcomeUnknown Outcome = iota
	// OutcomeConfirmed: the transaction has been executed, and the action is done.
	OutcomeConfirmed
	// OutcomeFailed: the transaction has been executed and has failed. It has paid its fee and changed
	// nothing else.
	OutcomeFailed
	// OutcomeExpired: the transaction has not been executed and never will be. The action is safe to repeat.
	OutcomeExpired
	// OutcomeNotSent: the transaction has not been sent, or no node has forwarded it. The action is safe to
	// repeat.
	OutcomeNotSent
)

var outcomeNames = [...]string{
	OutcomeUnknown:   "unknown",
	OutcomeConfirmed: "confirmed",
	OutcomeFailed:    "failed",
	OutcomeExpired:   "expired",
	OutcomeNotSent:   "not sent",
}

func (o Outcome) String() string {
	if int(o) < len(outcomeNames) {
		return outcomeNames[o]
	}
	return fmt.Sprintf("outcome %d", uint8(o))
}

// IsFinal reports whether the outcome can no longer change.
func (o Outcome) IsFinal() bool { return o > OutcomeUnknown && int(o) < len(outcomeNames) }

// MarshalText returns the outcome's name. It fails for a number that is no outcome.
func (o Outcome) MarshalText() ([]byte, error) {
	if int(o) >= len(outcomeNames) {
		return nil, fmt.Errorf("haggle: invalid %s", o)
	}
	return []byte(o.String()), nil
}

// UnmarshalText decodes a name that MarshalText has encoded.
func (o *Outcome) UnmarshalText(text []byte) error {
	for i, name := range outcomeNames {
		if name == string(text) {
			*o = Outcome(i)
			return nil
		}
	}
	return fmt.Errorf("haggle: unknown outcome name %q", text)
}

// OutcomeOf returns the outcome of the transaction for which [Action.Do], [Client.Submit] or [Client.Outcome]
// has returned an error:
//
//	receipt, err := action.Do(ctx, me)
//	switch haggle.OutcomeOf(err) {
//	case haggle.OutcomeConfirmed:
//	case haggle.OutcomeFailed: // err says why
//	case haggle.OutcomeExpired, haggle.OutcomeNotSent: // safe to repeat
//	case haggle.OutcomeUnknown: // read the state before anything is repeated
//	}
//
// For an action that has been done before ([*AlreadyDone]) it is OutcomeConfirmed. The default is
// OutcomeUnknown: OutcomeExpired and OutcomeNotSent are returned only for errors that prove it, which are
// those of Do and Submit themselves, also wrapped with %w. Any other error is OutcomeUnknown: a context's or
// a connection's own, one that was formatted with %v, and several errors of which one proves nothing.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return OutcomeConfirmed
	}
	switch e := err.(type) {
	case opaque, *rpcpool.Interrupted:
		return OutcomeUnknown
	case unsent:
		return OutcomeNotSent
	case *UnknownOutcome:
		return OutcomeUnknown
	case *JournalError:
		return e.Outcome
	case *AlreadyDone:
		return OutcomeConfirmed
	case *protocol.ProgramError:
		return outcomeOfFailure(e.Signature)
	case *TransactionError:
		return outcomeOfFailure(e.Signature)
	case *StateChangedError, *UnresolvedError, *SessionUsedError, *token.InsufficientFunds, *protocol.AccountError:
		return OutcomeNotSent
	}
	switch err {
	case ErrDetailsUnavailable, ErrAlreadyDone:
		return OutcomeConfirmed
	case ErrTransactionExpired:
		return OutcomeExpired
	case ErrNotAsExpected, ErrMissingSigner, ErrNotASigner, token.ErrNotWrappedSOL:
		return OutcomeNotSent
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return OutcomeOf(inner)
		}
	case interface{ Unwrap() []error }:
		return outcomeOfAll(e.Unwrap())
	}
	return OutcomeUnknown
}

// outcomeOfFailure returns the outcome of a transaction that was refused in the simulation or by the node, if
// it has no signature, or that was executed and has failed.
func outcomeOfFailure(signature solana.Signature) Outcome {
	if signature.IsZero() {
		return OutcomeNotSent
	}
	return OutcomeFailed
}

// outcomeOfAll returns the outcome that all errors agree on, otherwise OutcomeUnknown. Beside
// ErrDetailsUnavailable the others are its reasons.
func outcomeOfAll(errs []error) Outcome {
	if len(errs) == 0 {
		return OutcomeUnknown
	}
	first := OutcomeOf(errs[0])
	if errs[0] == ErrDetailsUnavailable {
		return first
	}
	for _, err := range errs[1:] {
		if OutcomeOf(err) != first {
			return OutcomeUnknown
		}
	}
	return first
}

// unsent is an error from before the send. It proves OutcomeNotSent for any wrapped error, for example the
// cause of a context that has ended, which with golang.org/x/sync/errgroup is about another transaction.
type unsent struct{ error }

// Unwrap returns the reason.
func (u unsent) Unwrap() error { return u.error }

// beforeSending marks an error of a step before the send. It returns an *AlreadyDone unchanged.
func beforeSending(err error) error {
	if _, done := err.(*AlreadyDone); done || err == nil {
		return err
	}
	return unsent{err}
}

// opaque is an error that proves nothing about the transaction: the cause of a context, which is the
// caller's.
type opaque struct{ error }

// Unwrap returns the cause.
func (o opaque) Unwrap() error { return o.error }

// Outcome waits until the outcome of a transaction is certain. It sends nothing.
func (c *Client) Outcome(ctx context.Context, unknown *UnknownOutcome) (*Receipt, error) {
	c.orient(ctx)
	return c.pendingUnknown(unknown).await(ctx)
}

func (c *Client) pendingUnknown(unknown *UnknownOutcome) *pendingTransaction {
	return &pendingTransaction{
		client: c, signature: unknown.Signature, sentAt: unknown.SentAt, commitment: c.commitment,
		valid: validity{
			lastHeight: unknown.LastValidBlockHeight, blockhash: unknown.Blockhash, nonce: unknown.Nonce,
			since: unknown.Slot,
		},
	}
}
