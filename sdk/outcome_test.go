package haggle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
	"github.com/haggle-protocol/haggle/sdk/node"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
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
		{&AlreadyDone{Refusal: &protocol.ProgramError{Signature: signature}}, OutcomeConfirmed},
		{&protocol.ProgramError{Signature: signature}, OutcomeFailed},
		{&TransactionError{Signature: signature}, OutcomeFailed},
		{fmt.Errorf("offer: %w", &TransactionError{Signature: signature}), OutcomeFailed},
		{fmt.Errorf("%w: x", ErrTransactionExpired), OutcomeExpired},
		{unknown, OutcomeUnknown},
		{&UnknownOutcome{Cause: ErrTransactionExpired}, OutcomeUnknown},
		{&UnknownOutcome{Cause: &JournalError{Op: journalBegin, Outcome: OutcomeNotSent}}, OutcomeUnknown},
		{&UnknownOutcome{Cause: &AlreadyDone{}}, OutcomeUnknown},
		{&UnknownOutcome{Cause: ErrDetailsUnavailable}, OutcomeUnknown},
		{errors.Join(ErrTransactionExpired, unknown), OutcomeUnknown},
		{errors.Join(&AlreadyDone{}, unknown), OutcomeUnknown},
		{fmt.Errorf("offer: %w", unsent{&AlreadyDone{}}), OutcomeNotSent},
		{&protocol.ProgramError{}, OutcomeNotSent},
		{&TransactionError{}, OutcomeNotSent},
		{&StateChangedError{}, OutcomeNotSent},
		{&UnresolvedError{Entries: []Recovered{{Err: unknown}}}, OutcomeNotSent},
		{&JournalError{Op: journalBegin, Outcome: OutcomeNotSent, Err: unknown}, OutcomeNotSent},
		{&JournalError{Op: journalFinish, Outcome: OutcomeExpired, Err: errors.New("disk"),
			Failure: ErrTransactionExpired}, OutcomeExpired},
		{&token.InsufficientFunds{}, OutcomeNotSent},
		{&protocol.AccountError{Err: protocol.ErrAccountNotFound}, OutcomeNotSent},
		{&SessionUsedError{}, OutcomeNotSent},
		{&token.UnsupportedMint{}, OutcomeNotSent},
		{fmt.Errorf("%w: %s", ErrMissingSigner, signature), OutcomeNotSent},
		{fmt.Errorf("%w: the offer is another one", ErrNotAsExpected), OutcomeNotSent},
		{errors.Join(fmt.Errorf("%w: x", ErrTransactionExpired), ErrTransactionExpired), OutcomeExpired},
	} {
		assert.Equal(t, c.want, OutcomeOf(c.err), "%v", c.err)
	}
}

// Only a proven outcome is safe to repeat: no other error may count as "not sent".
func TestUnprovenErrorsAreUnknown(t *testing.T) {
	signature := solana.Signature{1}
	unknown := &UnknownOutcome{Signature: signature, Cause: context.Canceled}
	reset := &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	for _, err := range []error{
		context.Canceled, context.DeadlineExceeded, fmt.Errorf("offer: %w", context.DeadlineExceeded),
		syscall.ECONNRESET, reset, fmt.Errorf("haggle: sendTransaction: %w", reset), io.ErrUnexpectedEOF,
		errors.New("something else"), fmt.Errorf("offer: %v", unknown),
		fmt.Errorf("offer: %v", ErrTransactionExpired),
		&node.Error{}, node.ErrMalformed, ErrClientClosed,
		nodeError("sendTransaction", &rpcpool.Interrupted{Cause: &AlreadyDone{}}),
		nodeError("sendTransaction", &rpcpool.Interrupted{Cause: context.Canceled, Before: reset}),
		protocol.ErrExpired,
		errors.Join(ErrTransactionExpired, reset), errors.Join(reset, ErrTransactionExpired),
		errors.Join(&StateChangedError{}, context.DeadlineExceeded),
		errors.Join(&TransactionError{Signature: signature}, ErrTransactionExpired), wrapsNothing{},
	} {
		assert.Equal(t, OutcomeUnknown, OutcomeOf(err), "%v", err)
		assert.Equal(t, OutcomeUnknown, OutcomeOf(fmt.Errorf("buy: %w", err)), "%v", err)
	}
}

type wrapsNothing struct{}

func (wrapsNothing) Error() string { return "wraps nothing" }
func (wrapsNothing) Unwrap() error { return nil }

// Each step of Do before the send is safe to repeat, whatever the node or the signer answers.
func TestErrorsBeforeTheSendAreNotSent(t *testing.T) {
	for _, method := range []string{"getLatestBlockhash", "simulateTransaction"} {
		t.Run(method, func(t *testing.T) {
			a := newAgent(t, nil)
			a.node.answers[method] = func(int) (any, error) { return nil, syscall.ECONNRESET }
			_, err := a.pay(t, 1).Do(t.Context(), a.me)
			require.Error(t, err)
			assert.Equal(t, OutcomeNotSent, OutcomeOf(err), "%v", err)
		})
	}
	t.Run("the signer", func(t *testing.T) {
		a := newAgent(t, nil)
		_, err := a.pay(t, 1).Do(t.Context(), silentSigner{a.me})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, OutcomeNotSent, OutcomeOf(err), "%v", err)
	})
}

// silentSigner is a remote signer that does not answer in time.
type silentSigner struct{ Signer }

func (silentSigner) SignMessage(context.Context, []byte) (solana.Signature, error) {
	return solana.Signature{}, context.DeadlineExceeded
}

// A group of goroutines that share a context, as in errgroup, ends it with the error of the first transaction
// that fails. That error does not concern the others.
func TestCauseOfTheContextProvesNothing(t *testing.T) {
	for name, cause := range map[string]error{
		"is not in the journal": &JournalError{Op: journalBegin, Outcome: OutcomeNotSent,
			Err: errors.New("disk")},
		"was done before":       &AlreadyDone{Action: "pay"},
		"has no details":        fmt.Errorf("%w: x", ErrDetailsUnavailable),
		"has failed":            &protocol.ProgramError{Signature: solana.Signature{1}},
		"was refused by a node": &node.Error{Method: "getEpochInfo", Code: invalidParams, Message: "no"},
		"has expired":           ErrTransactionExpired,
		"is unknown":            &UnknownOutcome{Signature: solana.Signature{1}, Cause: context.Canceled},
	} {
		for when, c := range map[string]struct {
			method string
			answer error
			want   Outcome
		}{
			"before it is sent":   {"getLatestBlockhash", context.Canceled, OutcomeNotSent},
			"while it is sent":    {"sendTransaction", context.Canceled, OutcomeUnknown},
			"when it has been":    {"sendTransaction", nil, OutcomeUnknown},
			"while it is awaited": {"getSignatureStatuses", context.Canceled, OutcomeUnknown},
		} {
			t.Run(name+", "+when, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					a := newAgent(t, nil)
					ctx, end := context.WithCancelCause(t.Context())
					defer end(nil)
					before := a.node.answers[c.method]
					a.node.answers[c.method] = func(call int) (any, error) {
						end(cause)
						if c.answer != nil {
							return nil, c.answer
						}
						return before(call)
					}
					_, err := a.pay(t, 1).Do(ctx, a.me)
					require.ErrorIs(t, err, cause)
					require.Equal(t, c.want, OutcomeOf(err), "%v", err)
					for _, entry := range a.journal.entries {
						_, finished := a.journal.outcome(entry.Signature)
						require.False(t, finished, "it may still be executed")
					}
				})
			})
		}
	}
}

func TestOutcomeIsWrittenAsText(t *testing.T) {
	names := map[Outcome]string{
		OutcomeUnknown: "unknown", OutcomeConfirmed: "confirmed", OutcomeFailed: "failed",
		OutcomeExpired: "expired", OutcomeNotSent: "not sent",
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

// The stored part of an unknown outcome is enough for another process to check.
func TestUnknownOutcomeCanBeStored(t *testing.T) {
	unknown := UnknownOutcome{Signature: solana.Signature{1}, LastValidBlockHeight: 2,
		Blockhash: solana.Hash{3}, Nonce: solana.PublicKey{4}, Slot: 5}
	client, _, _ := newScripted(t, nil)
	pending := client.pendingUnknown(&unknown)
	var again *UnknownOutcome
	require.ErrorAs(t, pending.unknown(context.Canceled), &again)
	again.Cause = nil
	assert.Equal(t, unknown, *again)
}
