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

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestOutcomeOfAnError(t *testing.T) {
	signature := solana.Signature{1}
	unknown := &transaction.UnknownOutcomeError{Signature: signature, Cause: context.Canceled}
	deal := &protocol.Negotiation{EscrowAmount: 5}
	_, unsealed := protocol.SealPrice(solana.PublicKey{2}, deal, solana.PublicKey{3}, 6)
	for _, c := range []struct {
		err  error
		want transaction.Outcome
	}{
		{nil, transaction.Confirmed},
		{fmt.Errorf("%w: x", transaction.ErrDetailsUnavailable), transaction.Confirmed},
		{&AlreadyDone{}, transaction.Confirmed},
		{&AlreadyDone{Refusal: &protocol.ProgramError{Signature: signature}}, transaction.Confirmed},
		{&protocol.ProgramError{Signature: signature}, transaction.Failed},
		{&transaction.Error{Signature: signature}, transaction.Failed},
		{fmt.Errorf("offer: %w", &transaction.Error{Signature: signature}), transaction.Failed},
		{fmt.Errorf("%w: x", transaction.ErrExpired), transaction.Expired},
		{unknown, transaction.Unknown},
		{&transaction.UnknownOutcomeError{Cause: transaction.ErrExpired}, transaction.Unknown},
		{&transaction.UnknownOutcomeError{Cause: &JournalError{Op: journalBegin, Outcome: transaction.NotSent}}, transaction.Unknown},
		{&transaction.UnknownOutcomeError{Cause: &AlreadyDone{}}, transaction.Unknown},
		{&transaction.UnknownOutcomeError{Cause: transaction.ErrDetailsUnavailable}, transaction.Unknown},
		{errors.Join(transaction.ErrExpired, unknown), transaction.Unknown},
		{errors.Join(&AlreadyDone{}, unknown), transaction.Unknown},
		{fmt.Errorf("offer: %w", unsent(&AlreadyDone{})), transaction.NotSent},
		{&protocol.ProgramError{}, transaction.NotSent},
		{&transaction.Error{}, transaction.NotSent},
		{&StateChangedError{}, transaction.NotSent},
		{&UnresolvedError{Entries: []Recovered{{Err: unknown}}}, transaction.NotSent},
		{&JournalError{Op: journalBegin, Outcome: transaction.NotSent, Err: unknown}, transaction.NotSent},
		{&JournalError{Op: journalFinish, Outcome: transaction.Expired, Err: errors.New("disk"),
			Failure: transaction.ErrExpired}, transaction.Expired},
		{&token.InsufficientFunds{}, transaction.NotSent},
		{&protocol.AccountError{Err: protocol.ErrAccountNotFound}, transaction.NotSent},
		{&SessionUsedError{}, transaction.NotSent},
		{&token.UnsupportedMint{}, transaction.NotSent},
		{unsealed, transaction.NotSent},
		{fmt.Errorf("%w: %s", transaction.ErrMissingSigner, signature), transaction.NotSent},
		{fmt.Errorf("%w: the offer is another one", ErrNotAsExpected), transaction.NotSent},
		{errors.Join(fmt.Errorf("%w: x", transaction.ErrExpired), transaction.ErrExpired), transaction.Expired},
	} {
		assert.Equal(t, c.want, transaction.OutcomeOf(c.err), "%v", c.err)
	}
}

// Unless its outcome is proven, an action is not safe to repeat: no other error may count as "not sent".
func TestUnprovenErrorsAreUnknown(t *testing.T) {
	signature := solana.Signature{1}
	unknown := &transaction.UnknownOutcomeError{Signature: signature, Cause: context.Canceled}
	reset := &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	for _, err := range []error{
		context.Canceled, context.DeadlineExceeded, fmt.Errorf("offer: %w", context.DeadlineExceeded),
		syscall.ECONNRESET, reset, fmt.Errorf("haggle: sendTransaction: %w", reset), io.ErrUnexpectedEOF,
		errors.New("something else"), fmt.Errorf("offer: %v", unknown),
		fmt.Errorf("offer: %v", transaction.ErrExpired),
		&transaction.NodeError{}, transaction.ErrMalformed, ErrClientClosed,
		nodeError("sendTransaction", &rpcpool.Interrupted{Cause: &AlreadyDone{}}),
		nodeError("sendTransaction", &rpcpool.Interrupted{Cause: context.Canceled, Before: reset}),
		protocol.ErrExpired,
		errors.Join(transaction.ErrExpired, reset), errors.Join(reset, transaction.ErrExpired),
		errors.Join(&StateChangedError{}, context.DeadlineExceeded),
		errors.Join(&transaction.Error{Signature: signature}, transaction.ErrExpired), wrapsNothing{},
	} {
		assert.Equal(t, transaction.Unknown, transaction.OutcomeOf(err), "%v", err)
		assert.Equal(t, transaction.Unknown, transaction.OutcomeOf(fmt.Errorf("buy: %w", err)), "%v", err)
	}
}

type wrapsNothing struct{}

func (wrapsNothing) Error() string { return "wraps nothing" }
func (wrapsNothing) Unwrap() error { return nil }

// Each step of Do before the send is safe to repeat, whatever the node or signer returns.
func TestErrorsBeforeTheSendAreNotSent(t *testing.T) {
	for _, method := range []string{"getLatestBlockhash", "simulateTransaction"} {
		t.Run(method, func(t *testing.T) {
			a := newAgent(t, nil)
			a.node.answers[method] = func(int) (any, error) { return nil, syscall.ECONNRESET }
			_, err := a.pay(t, 1).Do(t.Context(), a.me)
			require.Error(t, err)
			assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err), "%v", err)
		})
	}
	t.Run("the signer", func(t *testing.T) {
		a := newAgent(t, nil)
		_, err := a.pay(t, 1).Do(t.Context(), silentSigner{a.me})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, transaction.NotSent, transaction.OutcomeOf(err), "%v", err)
	})
}

// silentSigner is a remote signer that does not respond in time.
type silentSigner struct{ Signer }

func (silentSigner) SignMessage(context.Context, []byte) (solana.Signature, error) {
	return solana.Signature{}, context.DeadlineExceeded
}

// A group of goroutines that share a context, as in errgroup, ends it with the error of the first transaction
// that fails. That error does not concern the others.
func TestCauseOfTheContextProvesNothing(t *testing.T) {
	for name, cause := range map[string]error{
		"is not in the journal": &JournalError{Op: journalBegin, Outcome: transaction.NotSent,
			Err: errors.New("disk")},
		"was done before":       &AlreadyDone{Action: "pay"},
		"has no details":        fmt.Errorf("%w: x", transaction.ErrDetailsUnavailable),
		"has failed":            &protocol.ProgramError{Signature: solana.Signature{1}},
		"was refused by a node": &transaction.NodeError{Method: "getEpochInfo", Code: transaction.CodeInvalidParams, Message: "no"},
		"has expired":           transaction.ErrExpired,
		"is unknown":            &transaction.UnknownOutcomeError{Signature: solana.Signature{1}, Cause: context.Canceled},
	} {
		for when, c := range map[string]struct {
			method string
			answer error
			want   transaction.Outcome
		}{
			"before it is sent":   {"getLatestBlockhash", context.Canceled, transaction.NotSent},
			"while it is sent":    {"sendTransaction", context.Canceled, transaction.Unknown},
			"when it has been":    {"sendTransaction", nil, transaction.Unknown},
			"while it is awaited": {"getSignatureStatuses", context.Canceled, transaction.Unknown},
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
					require.Equal(t, c.want, transaction.OutcomeOf(err), "%v", err)
					for _, entry := range a.journal.entries {
						_, finished := a.journal.outcome(entry.Signature)
						require.False(t, finished, "it may still be executed")
					}
				})
			})
		}
	}
}

// The stored part of an unknown outcome is enough for another process to check.
func TestUnknownOutcomeCanBeStored(t *testing.T) {
	unknown := transaction.UnknownOutcomeError{Signature: solana.Signature{1}, LastValidBlockHeight: 2,
		Blockhash: solana.Hash{3}, Nonce: solana.PublicKey{4}, Slot: 5}
	client, _, _ := newScripted(t, nil)
	pending := client.pendingUnknown(&unknown)
	var again *transaction.UnknownOutcomeError
	require.ErrorAs(t, pending.Unknown(context.Canceled), &again)
	again.Cause = nil
	assert.Equal(t, unknown, *again)
}
