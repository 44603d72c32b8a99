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
	// A step that fails for a reason that may pass is repeated, on the state as it is then, after such a pause, which doubles.
	attemptPause     = 500 * time.Millisecond
	attemptPauseMost = 8 * time.Second
	// patience is how long failures may last once the negotiation's own deadline has passed, or while it is not known.
	patience = 2 * time.Minute
	// historyLimit is how long the last events of a negotiation may take to arrive before its account is looked for again.
	historyLimit = 3 * time.Second
	// listenAgain is how long after a failed attempt to subscribe the next one is made.
	listenAgain = 20 * time.Second
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
// No step is taken on another negotiation than the one given, should its buyer create one anew at the address: that is
// [ErrReplaced]. Of one that has not been read yet, whose CreatedAt is zero, the first one that the chain has is followed.
//
// When the context ends, the step under way is finished first: nothing is left half done.
func Follow(ctx context.Context, client *haggle.Client, n *haggle.NegotiationAccount, step Step) (Outcome, error) {
	f := &follower{client: client, address: n.Address, step: step, history: newHistory(), until: time.Now().Add(patience)}
	if n.CreatedAt != 0 {
		followed := termsOf(n)
		f.followed = &followed
	}
	defer f.deafen()
	for ctx.Err() == nil {
		f.listen(ctx)
		finished, err := f.look(ctx)
		if finished || err != nil {
			return f.outcome, err
		}
		f.wait(ctx, lookAgain)
	}
	return f.outcome, f.interrupted(ctx)
}

type follower struct {
	client  *haggle.Client
	address solana.PublicKey
	step    Step
	// followed is nil until the negotiation has been read.
	followed *terms
	// subscription is nil while there is none; then the state is read from time to time.
	subscription *haggle.Subscription
	deafUntil    time.Time
	history      history
	outcome      Outcome
	decided      bool
	// until is how long failures may last.
	until time.Time
	pause time.Duration
}

// listen subscribes to the events from the beginning. Where that fails it is tried again before the next look.
func (f *follower) listen(ctx context.Context) {
	if f.subscription != nil || time.Now().Before(f.deafUntil) {
		return
	}
	f.deafUntil = time.Now().Add(listenAgain)
	if subscription, err := f.client.Watch(ctx, f.address, haggle.FromBeginning()); err == nil {
		f.subscription, f.history = subscription, newHistory()
	}
}

func (f *follower) deafen() {
	if f.subscription != nil {
		f.subscription.Close()
		f.subscription = nil
	}
}

// events is a channel on which nothing comes while there is no subscription.
func (f *follower) events() <-chan haggle.Observation {
	if f.subscription == nil {
		return nil
	}
	return f.subscription.Events()
}

// look reads the state and takes a step.
func (f *follower) look(interruptible context.Context) (finished bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(interruptible), actionLimit)
	defer cancel()
	finished, err = f.act(ctx)
	if err == nil {
		f.pause = 0
		return finished, nil
	}
	if !mayPass(err) {
		return false, err
	}
	if f.pause == 0 {
		f.pause = attemptPause
		f.until = latest(f.until, time.Now().Add(patience))
	} else {
		f.pause = min(2*f.pause, attemptPauseMost)
	}
	if time.Now().After(f.until) {
		return false, err
	}
	pause(interruptible, f.pause)
	return false, nil
}

func (f *follower) act(ctx context.Context) (finished bool, err error) {
	n, err := f.client.GetNegotiation(ctx, f.address)
	if errors.Is(err, haggle.ErrAccountNotFound) {
		return f.recall(ctx, err)
	}
	if err != nil {
		return false, err
	}
	found := termsOf(n)
	if f.followed != nil && *f.followed != found {
		if f.remember(); f.decided {
			return true, nil
		}
		return false, fmt.Errorf("negotiation %s: %w", f.address, ErrReplaced)
	}
	f.followed = &found
	now, err := f.client.Now(ctx)
	if err != nil {
		return false, err
	}
	f.until = time.Now().Add(time.Duration(n.GlobalDeadline-now)*time.Second + patience)
	if n.IsOver() {
		f.decide(Outcome{n.Status, n.SettledAmount, 0, n.CurrentRound})
		if n.Status == haggle.NegotiationStatusSettled {
			f.outcome.Fee = n.FeeOn(n.SettledAmount)
		}
	}
	return f.step(ctx, n, now)
}

// recall finds out whether a negotiation has been closed that the node does not have, and learns from its events how it has
// ended. A node that is behind does not have it yet: without the event of its closing the error stays, and it is looked for again.
func (f *follower) recall(ctx context.Context, missing error) (finished bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, historyLimit)
	defer cancel()
	for !f.decided && !f.history.closed[f.creation()] {
		select {
		case observation, more := <-f.events():
			f.hear(observation, more)
		case <-ctx.Done():
			return false, missing
		}
	}
	if f.remember(); !f.decided {
		return false, fmt.Errorf("negotiation %s is closed, and how it ended is not among its events", f.address)
	}
	return true, nil
}

// creation is when the negotiation that is followed was created.
func (f *follower) creation() int64 {
	if f.followed != nil {
		return f.followed.created
	}
	return f.history.latest
}

func (f *follower) hear(observation haggle.Observation, more bool) {
	if !more {
		f.deafen()
		return
	}
	f.history.hear(observation.Event)
}

// remember takes the outcome from the events, unless the account has told it.
func (f *follower) remember() {
	if outcome, known := f.history.ends[f.creation()]; known && !f.decided {
		f.decide(outcome)
	}
}

func (f *follower) decide(outcome Outcome) { f.outcome, f.decided = outcome, true }

// wait returns at the next event, after a while, or when the context ends.
func (f *follower) wait(ctx context.Context, longest time.Duration) {
	timer := time.NewTimer(longest)
	defer timer.Stop()
	select {
	case observation, more := <-f.events():
		f.hear(observation, more)
	case <-timer.C:
	case <-ctx.Done():
	}
	for {
		select {
		case observation, more := <-f.events():
			f.hear(observation, more)
		default:
			return // all that has been heard is in the state that is read next
		}
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
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
	for _, code := range []haggle.ErrorCode{haggle.ErrStaleState, haggle.ErrInvalidState, haggle.ErrNotYourTurn,
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
