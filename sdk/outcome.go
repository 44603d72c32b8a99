package haggle

import (
	"context"
	"errors"
	"fmt"
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
// For an action that has been done before ([*AlreadyDone]) it is OutcomeConfirmed.
func OutcomeOf(err error) Outcome {
	var (
		journal *JournalError
		unknown *UnknownOutcome
		program *ProgramError
		failed  *TransactionError
	)
	switch {
	case err == nil:
		return OutcomeConfirmed
	case errors.As(err, &journal):
		return journal.Outcome
	case errors.Is(err, ErrAlreadyDone), errors.Is(err, ErrDetailsUnavailable):
		return OutcomeConfirmed
	case errors.As(err, &unknown):
		return OutcomeUnknown
	case errors.Is(err, ErrTransactionExpired):
		return OutcomeExpired
	case errors.As(err, &program) && !program.Signature.IsZero(), errors.As(err, &failed) && !failed.Signature.IsZero():
		return OutcomeFailed
	}
	return OutcomeNotSent
}

// Outcome looks again what has become of a transaction, and waits until that is certain. It sends nothing.
func (c *Client) Outcome(ctx context.Context, unknown *UnknownOutcome) (*Receipt, error) {
	c.orient(ctx)
	return c.pendingUnknown(unknown).await(ctx)
}

func (c *Client) pendingUnknown(unknown *UnknownOutcome) *pendingTransaction {
	return &pendingTransaction{
		client: c, signature: unknown.Signature, sentAt: unknown.SentAt, commitment: c.commitment,
		valid: validity{
			lastHeight: unknown.LastValidBlockHeight, blockhash: unknown.Blockhash, nonce: unknown.Nonce, since: unknown.Slot,
		},
	}
}
