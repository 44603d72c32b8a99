package haggle

import (
	"context"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Outcome says what has become of a transaction, and so whether its action may be repeated.
type Outcome uint8

// The outcomes. The zero value is the one after which nothing may be repeated.
const (
	// OutcomeUnknown: the transaction has been sent and may still be executed, or has been and nobody can be asked. Look again
	// later: [Client.Outcome], or [Client.Recover] with a journal.
	OutcomeUnknown Outcome = iota
	// OutcomeConfirmed: it has been executed, and the action is done.
	OutcomeConfirmed
	// OutcomeFailed: it has been executed and has failed. It has paid its fee and changed nothing else.
	OutcomeFailed
	// OutcomeExpired: it has not been executed and never will be. The action is safe to repeat.
	OutcomeExpired
	// OutcomeNotSent: no node has forwarded it, or it has not come to be sent at all. The action is safe to repeat.
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

// IsFinal says whether nothing can come of the transaction any more that has not come of it.
func (o Outcome) IsFinal() bool { return o > OutcomeUnknown && int(o) < len(outcomeNames) }

// MarshalText is String. It fails for a number that is no outcome.
func (o Outcome) MarshalText() ([]byte, error) {
	if int(o) >= len(outcomeNames) {
		return nil, fmt.Errorf("haggle: there is no %s", o)
	}
	return []byte(o.String()), nil
}

// UnmarshalText reads what MarshalText has written.
func (o *Outcome) UnmarshalText(text []byte) error {
	for i, name := range outcomeNames {
		if name == string(text) {
			*o = Outcome(i)
			return nil
		}
	}
	return fmt.Errorf("haggle: there is no outcome %q", text)
}

// OutcomeOf says what has become of the transaction for which [Action.Do], [Client.Submit] or [Client.Outcome] has answered with
// an error:
//
//	receipt, err := action.Do(ctx, me)
//	switch haggle.OutcomeOf(err) {
//	case haggle.OutcomeConfirmed:
//	case haggle.OutcomeFailed: // err says why
//	case haggle.OutcomeExpired, haggle.OutcomeNotSent: // safe to repeat
//	case haggle.OutcomeUnknown: // look again before anything is repeated
//	}
//
// For an action that has been done before ([*AlreadyDone]) it is OutcomeConfirmed. What an error gives only as the reason why nothing
// more is known, such as the cause of a context that has ended, says nothing: it may be about another transaction.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return OutcomeConfirmed
	}
	said := make(map[Outcome]bool)
	outcomesIn(err, said)
	// If it is several errors, the one after which the least may be done.
	for _, outcome := range []Outcome{OutcomeUnknown, OutcomeConfirmed, OutcomeExpired, OutcomeFailed} {
		if said[outcome] {
			return outcome
		}
	}
	return OutcomeNotSent
}

// outcomesIn notes what an error says of a transaction, without looking at what it gives as a reason.
func outcomesIn(err error, said map[Outcome]bool) {
	switch e := err.(type) {
	case nil, unsent:
		return
	case *JournalError:
		said[e.Outcome] = true
		return
	case *UnknownOutcome:
		said[OutcomeUnknown] = true
		return
	case *AlreadyDone:
		said[OutcomeConfirmed] = true
		return
	case *protocol.ProgramError:
		said[OutcomeFailed] = said[OutcomeFailed] || !e.Signature.IsZero()
	case *TransactionError:
		said[OutcomeFailed] = said[OutcomeFailed] || !e.Signature.IsZero()
	}
	switch err {
	case ErrAlreadyDone, ErrDetailsUnavailable:
		said[OutcomeConfirmed] = true
	case ErrTransactionExpired:
		said[OutcomeExpired] = true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		outcomesIn(e.Unwrap(), said)
	case interface{ Unwrap() []error }:
		for _, inner := range e.Unwrap() {
			outcomesIn(inner, said)
		}
	}
}

// unsent is why something has come to nothing before it was sent: the cause of a context that has ended, for example, which is the
// caller's. With golang.org/x/sync/errgroup that is what has become of another transaction.
type unsent struct{ error }

// Unwrap is the reason.
func (u unsent) Unwrap() error { return u.error }

// Outcome looks again what has become of a transaction, and waits until that is certain. It sends nothing.
func (c *Client) Outcome(ctx context.Context, unknown *UnknownOutcome) (*Receipt, error) {
	c.orient(ctx)
	return c.pendingUnknown(unknown).await(ctx)
}

func (c *Client) pendingUnknown(unknown *UnknownOutcome) *pendingTransaction {
	return &pendingTransaction{
		client: c, signature: unknown.Signature, blockhash: unknown.Blockhash, sentAt: unknown.SentAt, commitment: c.commitment,
		valid: validity{
			lastHeight: unknown.LastValidBlockHeight, blockhash: unknown.Blockhash, nonce: unknown.Nonce, since: unknown.Slot,
		},
	}
}
