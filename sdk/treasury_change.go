package haggle

import (
	"context"
	"errors"
	"fmt"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// treasuryChanged is an [ErrTreasuryChanged].
type treasuryChanged struct {
	negotiation solana.PublicKey
	before, now solana.PublicKey
	// rent is Action.Rent of the rebuilt close.
	rent    uint64
	refusal error
}

func (e *treasuryChanged) Error() string {
	return fmt.Sprintf("%v: close_negotiation on %s: the treasury is now %s instead of %s;"+
		" closing costs %s of rent for new token accounts",
		ErrTreasuryChanged, e.negotiation, e.now, e.before, amount.SOL(e.rent))
}

func (e *treasuryChanged) Unwrap() []error { return []error{ErrTreasuryChanged, e.refusal} }

// TransactionOutcome returns the refusal's outcome.
func (e *treasuryChanged) TransactionOutcome() transaction.Outcome {
	return transaction.OutcomeOf(e.refusal)
}

// rebuild builds a close again if the program refused it because the treasury was replaced since, and returns
// nil. Otherwise it returns the refusal, or an ErrTreasuryChanged if the caller named the treasury's token
// account, or if the rent is now higher than mostRent.
func (a *Action) rebuild(ctx context.Context, refusal error, mostRent uint64) error {
	var program *protocol.ProgramError
	if a.treasury.IsZero() || !errors.As(refusal, &program) || program.Code != protocol.ErrConstraintRaw ||
		errors.As(refusal, new(*JournalError)) {
		return refusal
	}
	again := *a
	again.Instructions = nil
	if _, err := again.Build(ctx); err != nil || again.treasury == a.treasury {
		return refusal // the treasury is not the reason, or no node confirms that
	}
	if !a.accounts.Treasury.IsZero() || again.Rent > mostRent {
		return &treasuryChanged{a.Negotiation, a.treasury, again.treasury, again.Rent, refusal}
	}
	*a = again
	return nil
}
