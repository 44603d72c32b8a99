package haggle

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOutcomeOfAnError(t *testing.T) {
	signature := solana.Signature{1}
	unknown := &UnknownOutcome{Signature: signature, Cause: context.Canceled}
	for _, c := range []struct {
		err  error
		want Outcome
	}{
		{nil, OutcomeConfirmed},
		{fmt.Errorf("%w: x", ErrDetailsUnavailable), OutcomeConfirmed},
		{&AlreadyDone{}, OutcomeConfirmed},
		{&AlreadyDone{Refusal: &ProgramError{Signature: signature}}, OutcomeConfirmed},
		{&ProgramError{Signature: signature}, OutcomeFailed},
		{&TransactionError{Signature: signature}, OutcomeFailed},
		{fmt.Errorf("offer: %w", &TransactionError{Signature: signature}), OutcomeFailed},
		{fmt.Errorf("%w: x", ErrTransactionExpired), OutcomeExpired},
		{unknown, OutcomeUnknown},
		{&UnknownOutcome{Cause: ErrTransactionExpired}, OutcomeUnknown},
		{&ProgramError{}, OutcomeNotSent},
		{&TransactionError{}, OutcomeNotSent},
		{&MovedOn{}, OutcomeNotSent},
		{&Unresolved{Entries: []Recovered{{Err: unknown}}}, OutcomeNotSent},
		{&JournalError{Op: journalBegin, Outcome: OutcomeNotSent, Err: unknown}, OutcomeNotSent},
		{&JournalError{Op: journalFinish, Outcome: OutcomeExpired, Err: errors.New("disk"), Failure: ErrTransactionExpired}, OutcomeExpired},
		{context.Canceled, OutcomeNotSent},
		{&NodeError{}, OutcomeNotSent},
	} {
		assert.Equal(t, c.want, OutcomeOf(c.err), "%v", c.err)
	}
}

func TestOutcomeIsWrittenAsText(t *testing.T) {
	names := map[Outcome]string{
		OutcomeUnknown: "unknown", OutcomeConfirmed: "confirmed", OutcomeFailed: "failed", OutcomeExpired: "expired", OutcomeNotSent: "not sent",
	}
	for outcome, name := range names {
		assert.Equal(t, name, outcome.String())
		assert.Equal(t, outcome != OutcomeUnknown, outcome.IsFinal())
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

// What can be stored of an unknown outcome is enough for another process to look.
func TestUnknownOutcomeCanBeStored(t *testing.T) {
	unknown := UnknownOutcome{Signature: solana.Signature{1}, LastValidBlockHeight: 2, Blockhash: solana.Hash{3}, Nonce: solana.PublicKey{4}, Slot: 5}
	client, _, _ := newScripted(t, nil)
	pending := client.pendingUnknown(&unknown)
	var again *UnknownOutcome
	require.ErrorAs(t, pending.unknown(context.Canceled), &again)
	again.Cause = nil
	assert.Equal(t, unknown, *again)
}
