package haggle

import (
	"errors"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// Errors of the client itself, not of the program.
var (
	// errSessionUsed is the cause of [*SessionUsedError].
	errSessionUsed = unsent(errors.New("haggle: session id has been used before"))
	// ErrNotAsExpected: the caller's expectation differs from the state on chain. Nothing was signed.
	ErrNotAsExpected = unsent(errors.New("haggle: the negotiation is not as expected"))
	// ErrTokenProgramTooOld: the cluster's SPL Token does not support batches, and the program needs them to
	// move tokens. Nothing was deposited. docs/DEPLOYMENT.md lists the requirements for a cluster.
	ErrTokenProgramTooOld = errors.New("the cluster's token program does not support batches (p-token is required)")
	// ErrTreasuryChanged: the program refused a close because the protocol's treasury was replaced since the
	// action was built, and [Action.Do] may not send it for the new treasury by itself: the caller named the
	// treasury's token account, or closing would now cost a higher rent than [Action].Rent. Nothing changed
	// on chain. A new action, or [Action.Simulate], shows the new rent. errors.Is also finds the refusal.
	ErrTreasuryChanged = errors.New("haggle: treasury has changed")
	// ErrOffCurve: a party uses an address that is not a public key. A program signs for it, such as a
	// multisignature's or a custodian's, which may act for several users under this one address: a payment to
	// it names no user. It is a warning: see [Action.Warnings].
	ErrOffCurve = errors.New("haggle: address of a program, which may act for several users")
)

// unsent returns an error from before the send.
func unsent(err error) error { return transaction.WithOutcome(err, transaction.NotSent) }

// beforeSending marks an error from a step before the send. It returns an *AlreadyDone unchanged.
func beforeSending(err error) error {
	if _, done := err.(*AlreadyDone); done || err == nil {
		return err
	}
	return unsent(err)
}

// opaque returns an error that proves nothing about the transaction: a context's cause belongs to the caller.
func opaque(err error) error { return transaction.WithOutcome(err, transaction.Unknown) }
