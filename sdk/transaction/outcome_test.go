package transaction

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOutcomeIsWrittenAsText(t *testing.T) {
	names := map[Outcome]string{
		Unknown: "unknown", Confirmed: "confirmed", Failed: "failed",
		Expired: "expired", NotSent: "not sent",
	}
	for outcome, name := range names {
		assert.Equal(t, name, outcome.String())
		assert.Equal(t, outcome != Unknown, outcome.IsFinal())
		text, err := outcome.MarshalText()
		require.NoError(t, err)
		var again Outcome
		require.NoError(t, again.UnmarshalText(text))
		assert.Equal(t, outcome, again)
	}
	var other Outcome
	require.Error(t, other.UnmarshalText([]byte("lost")))
	_, err := Outcome(99).MarshalText()
	require.Error(t, err)
	assert.Equal(t, "outcome 99", Outcome(99).String())
	assert.False(t, Outcome(99).IsFinal())
}

func TestOutcomeOfAnError(t *testing.T) {
	failed := &Error{Signature: solana.Signature{1}}
	for _, c := range []struct {
		err  error
		want Outcome
	}{
		{nil, Confirmed},
		{failed, Failed},
		{&Error{}, NotSent},
		{&Error{Cause: ErrExpired}, NotSent},
		{&UnknownOutcomeError{Cause: ErrExpired}, Unknown},
		{ErrExpired, Expired},
		{ErrMissingSigner, NotSent},
		{ErrNotASigner, NotSent},
		{ErrNotANonce, Unknown},
		{fmt.Errorf("%w: %w", ErrDetailsUnavailable, context.Canceled), Confirmed},
		{fmt.Errorf("%w: %w", context.Canceled, ErrDetailsUnavailable), Unknown},
		{fmt.Errorf("pay: %w", WithOutcome(context.Canceled, NotSent)), NotSent},
		{WithOutcome(ErrExpired, Unknown), Unknown},
		{errors.Join(failed, failed), Failed},
		{errors.Join(failed, context.Canceled), Unknown},
		{errors.Join(failed, ErrExpired), Unknown},
		{fmt.Errorf("pay: %v", ErrExpired), Unknown},
		{context.Canceled, Unknown},
	} {
		assert.Equal(t, c.want, OutcomeOf(c.err), "%v", c.err)
		if c.err != nil {
			assert.Equal(t, c.want, OutcomeOf(fmt.Errorf("again: %w", c.err)), "%v", c.err)
		}
	}
	require.ErrorIs(t, WithOutcome(context.Canceled, NotSent), context.Canceled)
}

// A nil pointer in an error proves nothing. It is the sender's programming error.
func TestOutcomeOfATypedNilIsUnknown(t *testing.T) {
	for _, err := range []error{
		(*Error)(nil), (*UnknownOutcomeError)(nil), (*stated)(nil), error(Stater((*Error)(nil))),
		WithOutcome((*Error)(nil), Unknown), errors.Join((*Error)(nil), (*Error)(nil)),
	} {
		assert.Equal(t, Unknown, OutcomeOf(err), "%T", err)
		assert.Equal(t, Unknown, OutcomeOf(fmt.Errorf("again: %w", err)), "%T", err)
	}
}
