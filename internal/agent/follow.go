package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/failure"
	"github.com/haggle-protocol/haggle/sdk"
)

const (
	// lookAgain is how often the state is read even if no event has been heard: deadlines pass without one.
	lookAgain = 2 * time.Second
	// actionLimit is longer than a transaction takes to land or to expire.
	actionLimit = 3 * time.Minute
	// A step that fails for a reason that may pass is repeated, on the state as it is then, so often and after such a pause.
	attempts     = 8
	attemptPause = 500 * time.Millisecond
	// historyLimit is how long the last events of a negotiation may take to arrive after its account has gone.
	historyLimit = 20 * time.Second
	// farewellLimit is how long an interrupted agent may take to say how it leaves things.
	farewellLimit = 5 * time.Second
)

// A Step does what the state of a negotiation asks of an agent, if anything. It is done when nothing is left to do. The time is
// the chain's, in Unix seconds.
type Step func(ctx context.Context, n *haggle.NegotiationAccount, now int64) (done bool, err error)

// Outcome is how a negotiation has ended.
type Outcome struct {
	// Status is Settled, Rejected or Expired.
	Status haggle.NegotiationStatus
	// Price and Fee are base units of the mint; zero without a deal.
	Price, Fee uint64
	Rounds     uint8
}

// Follow reads a negotiation whenever something happens to it and takes the step that its state asks for, until that is done or
// the negotiation has been closed. Nothing but the chain is remembered, so that a restarted agent goes on where it stopped.
//
// When the context ends, the step under way is finished first: nothing is left half done.
func Follow(ctx context.Context, client *haggle.Client, address solana.PublicKey, step Step) (Outcome, error) {
	f := &follower{client: client, address: address, step: step}
	subscription, err := client.Watch(ctx, address, haggle.FromBeginning())
	if err == nil {
		defer subscription.Close()
		f.events = subscription.Events()
	} else if ctx.Err() == nil {
		return f.outcome, err
	}
	for ctx.Err() == nil {
		finished, err := f.look(ctx)
		if finished || err != nil {
			return f.outcome, err
		}
		f.wait(ctx, lookAgain)
	}
	return f.outcome, f.interrupted(ctx)
}

type follower struct {
	client   *haggle.Client
	address  solana.PublicKey
	step     Step
	events   <-chan haggle.Observation
	outcome  Outcome
	decided  bool
	failures int
}

// look reads the state and takes a step.
func (f *follower) look(interruptible context.Context) (finished bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(interruptible), actionLimit)
	defer cancel()
	finished, err = f.act(ctx)
	if err == nil {
		f.failures = 0
		return finished, nil
	}
	if f.failures++; f.failures >= attempts || !mayPass(err) {
		return false, err
	}
	pause(interruptible, attemptPause)
	return false, nil
}

func (f *follower) act(ctx context.Context) (finished bool, err error) {
	n, err := f.client.GetNegotiation(ctx, f.address)
	if errors.Is(err, haggle.ErrAccountNotFound) {
		return true, f.recall(ctx)
	}
	if err != nil {
		return false, err
	}
	now, err := f.client.Now(ctx)
	if err != nil {
		return false, err
	}
	if n.IsOver() {
		f.decide(Outcome{n.Status, n.SettledAmount, 0, n.CurrentRound})
		if n.Status == haggle.NegotiationStatusSettled {
			f.outcome.Fee = n.FeeOn(n.SettledAmount)
		}
	}
	return f.step(ctx, n, now)
}

// recall learns from the events how a negotiation has ended whose account is gone.
func (f *follower) recall(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, historyLimit)
	defer cancel()
	for !f.decided {
		select {
		case observation, more := <-f.events:
			if !more {
				return fmt.Errorf("negotiation %s is closed, and its events cannot be read", f.address)
			}
			f.hear(observation.Event)
		case <-ctx.Done():
			return fmt.Errorf("negotiation %s is closed, and its events do not arrive", f.address)
		}
	}
	return nil
}

func (f *follower) hear(event haggle.Event) {
	switch e := event.(type) {
	case *haggle.NegotiationSettled:
		f.decide(Outcome{haggle.NegotiationStatusSettled, e.SettledAmount, e.ProtocolFee, e.TotalRounds})
	case *haggle.NegotiationRejected:
		f.decide(Outcome{Status: haggle.NegotiationStatusRejected, Rounds: e.RoundsCompleted})
	case *haggle.NegotiationExpired:
		f.decide(Outcome{Status: haggle.NegotiationStatusExpired, Rounds: e.RoundsCompleted})
	}
}

func (f *follower) decide(outcome Outcome) { f.outcome, f.decided = outcome, true }

// wait returns at the next event, after a while, or when the context ends.
func (f *follower) wait(ctx context.Context, longest time.Duration) {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case observation, more := <-f.events:
		if !more {
			f.events = nil // from now on the state is read from time to time
			return
		}
		f.hear(observation.Event)
	case <-timer.C:
	case <-ctx.Done():
	}
}

// interrupted says how the agent leaves things.
func (f *follower) interrupted(ended context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ended), farewellLimit)
	defer cancel()
	n, err := f.client.GetNegotiation(ctx, f.address)
	if err != nil {
		return ended.Err()
	}
	return &failure.Error{
		Kind: failure.KindOf(ended.Err()),
		Hint: "started again, the agent goes on from there",
		Err: fmt.Errorf("stopped; negotiation %s is %s after %d offers, and its turn ends at %s UTC",
			f.address, n.Status, n.CurrentRound, time.Unix(n.TurnDeadline, 0).UTC().Format(time.DateTime)),
	}
}

// mayPass tells what can be different at the next look: the other side was faster, the endpoint did not answer, the transaction
// did not land.
func mayPass(err error) bool {
	for _, code := range []haggle.ErrorCode{haggle.ErrStaleState, haggle.ErrInvalidState, haggle.ErrNotYourTurn, haggle.ErrPayoutPending,
		haggle.ErrExpired, haggle.ErrResponseWindowExpired, haggle.ErrAccountOwnedByWrongProgram} {
		if errors.Is(err, code) {
			return true
		}
	}
	switch failure.KindOf(err) {
	case failure.Expired, failure.Unknown, failure.Network, failure.NotFound:
		return true
	}
	return errors.Is(err, haggle.ErrNotAsExpected)
}

func pause(ctx context.Context, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
