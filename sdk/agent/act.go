package agent

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// actionLimit is longer than a transaction takes to land or to expire.
const actionLimit = 3 * time.Minute

// pendingPause is how long an agent leaves a negotiation alone that cannot be closed because of what is kept for the other side.
const pendingPause = 10 * time.Minute

// act does something on chain. Actions that are under way when Run is to end get some time to finish.
func (l *loop) act(f *followed, v *view, name string, build func(ctx context.Context) (*haggle.Action, error)) {
	f.busy = true
	l.urgent = append(l.urgent, l.task(func() func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), actionLimit)
		defer cancel()
		hurry := context.AfterFunc(l.ctx, func() { time.AfterFunc(farewell, cancel) })
		defer hurry()
		var receipt *haggle.Receipt
		action, err := build(ctx)
		if err == nil {
			receipt, err = action.Do(ctx, l.signer)
		}
		return func() { l.acted(f, v, name, receipt, err) }
	}))
}

func (l *loop) acted(f *followed, v *view, name string, receipt *haggle.Receipt, err error) {
	f.busy = false
	if haggle.OutcomeOf(err) == haggle.OutcomeConfirmed {
		l.done(f, v, name, receipt, err)
		return
	}
	if l.stopping {
		return
	}
	l.config.Logger.Log(l.ctx, levelOf(err), "not done", f.attributes("action", name, "round", v.CurrentRound, "error", err)...)
	switch {
	case f.changed:
		f.failures++
		l.look(f)
		return
	case hasMovedOn(err):
		f.decided = nil
		l.putOff(f)
		// Whatever has happened instead is worth a look; only if there is nothing new the pause is kept.
		f.retryAt = time.Time{}
		return
	case mayPass(err):
		l.putOff(f)
		l.bear(f, err)
		return
	}
	l.report(f.address, err)
	if v.IsOver() {
		l.finishOne(f, err)
	}
	if errors.Is(err, protocol.ErrPayoutPending) && (f.side == protocol.OfferSideSeller || v.ClaimableBuyer == 0) {
		// It waits for somebody else, who may never come.
		f.failures++
		l.lookAfter(f, jitter(pendingPause))
		return
	}
	if f.decided == nil {
		f.unpayable = f.position
		l.putOff(f)
		return
	}
	turn := f.decided.turn
	f.decided = nil
	l.undecidable(f, v, turn)
}

// done is told of what has been done, now or before: then there is a receipt only if the journal has it. The error is nil unless
// something is wrong beside that.
func (l *loop) done(f *followed, v *view, name string, receipt *haggle.Receipt, err error) {
	f.failures, f.decided, f.live = 0, nil, true
	var (
		journal *haggle.JournalError
		already *haggle.AlreadyDone
	)
	if errors.As(err, &journal) {
		l.config.Logger.Error("the journal cannot be written", f.attributes("action", name, "error", err)...)
		l.report(f.address, err)
	}
	if errors.As(err, &already) && receipt == nil {
		l.config.Logger.Info("done before", f.attributes("action", name, "round", v.CurrentRound)...)
		if already.Now == nil {
			// A node that is behind would have it done again at once.
			l.lookAfter(f, jitter(firstPause))
			return
		}
		f.notBefore = max(f.notBefore, already.Now.Slot)
		l.look(f)
		return
	}
	f.notBefore = max(f.notBefore, receipt.Slot)
	for _, event := range receipt.Events {
		f.note(haggle.Observation{Slot: receipt.Slot, Negotiation: f.address, Event: event})
	}
	l.config.Logger.Info("done", f.attributes("action", name, "round", v.CurrentRound, "slot", receipt.Slot, "signature", receipt.Signature)...)
	if l.config.Acted != nil {
		l.tell(func() {
			l.config.Acted(Act{Name: name, Before: v.NegotiationAccount, Side: f.side, Receipt: receipt})
		})
	}
	l.look(f)
}

// undecidable is told that a decision cannot be carried out. It is asked for again; at the last call that leaves Fallback.
func (l *loop) undecidable(f *followed, v *view, turn Turn) {
	if !turn.LastCall {
		l.putOff(f)
		l.agenda.wake(f, v.lastCallAt())
		return
	}
	l.fallBack(f, v, turn)
}

// hasMovedOn says whether somebody else was faster, or the time is over: nothing is wrong, and one has to look again.
func hasMovedOn(err error) bool {
	for _, code := range []protocol.ErrorCode{
		protocol.ErrStaleState, protocol.ErrInvalidState, protocol.ErrNotYourTurn, protocol.ErrExpired, protocol.ErrResponseWindowExpired,
		protocol.ErrAccountOwnedByWrongProgram, protocol.ErrNoZopa,
	} {
		if errors.Is(err, code) {
			return true
		}
	}
	return errors.Is(err, haggle.ErrAccountNotFound) || errors.Is(err, haggle.ErrNotAsExpected)
}

// mayPass says whether the same action may succeed later: the node did not answer, the transaction did not land, or it is not known
// yet what became of it. It is safe to repeat, because it names the state that it is about.
func mayPass(err error) bool {
	var (
		unknown *haggle.UnknownOutcome
		node    *haggle.NodeError
		network net.Error
		failed  *haggle.TransactionError
	)
	switch {
	case errors.As(err, &unknown), errors.As(err, &node), errors.As(err, &network),
		errors.Is(err, haggle.ErrTransactionExpired), errors.Is(err, haggle.ErrUnresolved), errors.Is(err, haggle.ErrNodeBehind),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return true
	}
	return errors.As(err, &failed) && failed.Reason == "BlockhashNotFound"
}

// levelOf says how much an error matters to whoever reads the log.
func levelOf(err error) slog.Level {
	switch {
	case hasMovedOn(err), errors.Is(err, errBehind):
		return slog.LevelDebug
	case mayPass(err):
		return slog.LevelWarn
	}
	return slog.LevelError
}

func jitter(pause time.Duration) time.Duration { return pause/2 + rand.N(pause) }
