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
)

// attemptsPerAction is how often an action is tried of which it is certain that nothing has come.
const attemptsPerAction = 3

// act waits for its turn, then builds an action and does it, again if nothing has come of it. The error is the last attempt's.
func (r *run) act(ctx context.Context, n *negotiation, signer agent, build func(context.Context) (*haggle.Action, error)) error {
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

// slotTime is about what the chain takes for a slot.
const slotTime = 400 * time.Millisecond

// think pauses for a random part of a slot. Without it everyone would act in step with the slots, because everyone acts upon a
// confirmation, and a latency would say how long it takes from there to the next slot.
func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(rand.N(slotTime)):
	}
}

func (r *run) attempt(ctx context.Context, signer agent, build func(context.Context) (*haggle.Action, error)) (record, error) {
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

// conclude notes what a transaction has come to. Where that is not known, it looks again. What has been done is no error, even
// if the node has no details of it.
func (m *record) setOutcome(ctx context.Context, client *haggle.Client, receipt *haggle.Receipt, err error) error {
	prefix := ""
	var unknown *haggle.UnknownOutcome
	if errors.As(err, &unknown) && ctx.Err() == nil {
		prefix = "unknown, then "
		receipt, err = client.Outcome(ctx, unknown)
	}
	m.outcome = prefix + outcomeOf(err)
	m.signature = signatureOf(err)
	if receipt != nil {
		m.signature, m.slot, m.units, m.confirmation = receipt.Signature, receipt.Slot, receipt.ComputeUnits, receipt.Elapsed
	}
	if errors.Is(err, haggle.ErrDetailsUnavailable) {
		err = nil
	}
	m.done = err == nil
	return err
}

const confirmed = "confirmed"

// outcomeOf is the kind that an attempt is counted as.
func outcomeOf(err error) string {
	var refused *protocol.ProgramError
	var failed *haggle.TransactionError
	var unknown *haggle.UnknownOutcome
	var node *haggle.NodeError
	switch {
	case err == nil:
		return confirmed
	case errors.Is(err, haggle.ErrDetailsUnavailable):
		return "confirmed, details unavailable"
	case errors.Is(err, haggle.ErrTransactionExpired):
		return "expired"
	case errors.As(err, &unknown):
		return "unknown"
	case errors.As(err, &refused):
		return failurePrefix(refused.Signature) + refused.Name
	case errors.As(err, &failed):
		return failurePrefix(failed.Signature) + failed.Reason
	case errors.As(err, &node):
		return fmt.Sprintf("not sent: %s answered with error %d", node.Method, node.Code)
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

// signatureOf is the signature of a transaction that has failed on chain, or of which nothing is known; zero for any other.
func signatureOf(err error) solana.Signature {
	var refused *protocol.ProgramError
	var failed *haggle.TransactionError
	var unknown *haggle.UnknownOutcome
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

// canRepeat says whether nothing has come of an action and another attempt may fare better: it has expired or has not been sent.
func canRepeat(err error) bool {
	var refused *protocol.ProgramError
	return !errors.As(err, &refused) && signatureOf(err).IsZero()
}
