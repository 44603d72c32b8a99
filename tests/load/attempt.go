package load

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"

	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// attemptsPerAction limits the attempts per action while all are certain to have had no effect.
const attemptsPerAction = 3

// act waits until fewer than InFlight actions are in flight, then builds and executes an action. It repeats
// attempts that certainly had no effect. It returns the error of the last attempt.
func (r *run) act(ctx context.Context, n *negotiation, signer agent,
	build func(context.Context) (*haggle.Action, error)) error {
	for attempt := 1; ; attempt++ {
		select {
		case r.inFlight <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		pause(ctx)
		entry, err := r.attempt(ctx, signer, build)
		<-r.inFlight
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		entry.negotiation = n
		r.records.add(entry)
		if err == nil || attempt == attemptsPerAction || !canRepeat(err) {
			return err
		}
	}
}

// slotTime is the approximate slot duration.
const slotTime = 400 * time.Millisecond

// pause waits for a random part of a slot. All parties act once a transaction is confirmed. With no pause
// they would act in step with the slots, and a latency would be the time from confirmation to the next slot.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(rand.N(slotTime)):
	}
}

func (r *run) attempt(ctx context.Context, signer agent,
	build func(context.Context) (*haggle.Action, error)) (record, error) {
	entry := record{stage: r.records.now(), action: "unbuilt action"}
	began := time.Now()
	action, err := build(ctx)
	if err == nil {
		entry.action = action.Name
		var receipt *haggle.Receipt
		receipt, err = action.Do(ctx, signer)
		err = entry.setOutcome(ctx, r.parties.Client, receipt, err)
	} else {
		entry.outcome = outcomeOf(err)
	}
	entry.whole = time.Since(began)
	return entry, err
}

// setOutcome records a transaction's outcome. If the outcome is unknown, it asks the node again. A confirmed
// transaction is no error, even if the node stores no details.
func (m *record) setOutcome(ctx context.Context, client *haggle.Client, receipt *haggle.Receipt,
	err error) error {
	prefix := ""
	var unknown *transaction.UnknownOutcomeError
	if errors.As(err, &unknown) && ctx.Err() == nil {
		prefix = "unknown, then "
		receipt, err = client.Outcome(ctx, unknown)
	}
	m.outcome = prefix + outcomeOf(err)
	m.signature = signatureOf(err)
	if receipt != nil {
		m.signature, m.slot, m.units, m.confirmation = receipt.Signature, receipt.Slot, receipt.ComputeUnits,
			receipt.Elapsed
	}
	if errors.Is(err, transaction.ErrDetailsUnavailable) {
		err = nil
	}
	m.done = err == nil
	return err
}

const confirmed = "confirmed"

// outcomeOf returns the outcome that the report counts an attempt as.
func outcomeOf(err error) string {
	var refused *protocol.ProgramError
	var failed *transaction.Error
	var unknown *transaction.UnknownOutcomeError
	var answered *transaction.NodeError
	switch {
	case err == nil:
		return confirmed
	case errors.Is(err, transaction.ErrDetailsUnavailable):
		return "confirmed, details unavailable"
	case errors.Is(err, transaction.ErrExpired):
		return "expired"
	case errors.As(err, &unknown):
		return "unknown"
	case errors.As(err, &refused):
		return failurePrefix(refused.Signature) + refused.Name
	case errors.As(err, &failed):
		return failurePrefix(failed.Signature) + failed.Reason
	case errors.As(err, &answered):
		return fmt.Sprintf("not sent: %s answered with error %d", answered.Method, answered.Code)
	default:
		return "not sent: " + err.Error()
	}
}

func failurePrefix(signature solana.Signature) string {
	if signature.IsZero() {
		return "refused in the simulation: "
	}
	return "failed on chain: "
}

// signatureOf returns the signature if a transaction failed on chain or the outcome is unknown. For any other
// error it returns zero.
func signatureOf(err error) solana.Signature {
	var refused *protocol.ProgramError
	var failed *transaction.Error
	var unknown *transaction.UnknownOutcomeError
	switch {
	case errors.As(err, &refused):
		return refused.Signature
	case errors.As(err, &failed):
		return failed.Signature
	case errors.As(err, &unknown):
		return unknown.Signature
	}
	return solana.Signature{}
}

// canRepeat reports whether an action certainly had no effect and another attempt can succeed: the
// transaction expired or was not sent.
func canRepeat(err error) bool {
	var refused *protocol.ProgramError
	return !errors.As(err, &refused) && signatureOf(err).IsZero()
}
