package agent

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// listen keeps a subscription to everything that happens to the wallet's negotiations.
func (l *loop) listen() {
	for {
		err := l.hearAll()
		if l.ctx.Err() != nil {
			return
		}
		if errors.Is(err, haggle.ErrClientClosed) {
			l.end(err)
			return
		}
		l.config.Logger.Warn("no events can be heard for now", "error", err)
		l.post(func() { l.deaf = true })
		if !sleep(l.ctx, listenAgain) {
			return
		}
	}
}

func (l *loop) hearAll() error {
	subscription, err := l.subscribe()
	if err != nil {
		return err
	}
	defer subscription.Close()
	// What has happened before is in the list; what is in neither has not happened yet.
	l.post(func() {
		l.deaf = false
		l.askForSweep()
	})
	for seen := range subscription.Events() {
		l.post(func() { l.hear(seen) })
	}
	return subscription.Err()
}

// subscribe is for the goroutine of listen, which begins before the agent has engaged in anything.
func (l *loop) subscribe() (*haggle.Subscription, error) {
	var only solana.PublicKey
	known := make(chan struct{})
	l.post(func() {
		defer close(known)
		if l.one != nil {
			only = l.one.address
		}
	})
	select {
	case <-known:
	case <-l.ctx.Done():
		return nil, context.Cause(l.ctx)
	}
	if only.IsZero() {
		return l.client.WatchAgent(l.ctx, l.self)
	}
	return l.client.Watch(l.ctx, only)
}

// hear takes note of an event.
func (l *loop) hear(seen haggle.Observation) {
	if seen.Truncated {
		if f := l.followed[seen.Negotiation]; f != nil {
			f.offers = nil
			l.doubt(f)
		} else {
			l.askForSweep()
		}
		return
	}
	f := l.followed[seen.Negotiation]
	if f == nil {
		if l.one.isChosen() {
			return
		}
		if _, closed := seen.Event.(*protocol.NegotiationClosed); closed {
			return
		}
		f = &followed{address: seen.Negotiation, index: -1}
		l.followed[seen.Negotiation] = f
	}
	f.note(seen)
	// A read at the same slot may be from before the event: a slot holds many.
	if isBefore(seen.Slot, f.slot) {
		return
	}
	if f.withdraw != nil {
		f.withdraw(errMovedOn)
	}
	l.look(f)
}

// takenBack is how many slots further back than ever nothing is read, unless the client has found out that a node has shown a slot
// that there has never been. What was read of that must not hide what happens until then.
const takenBack = 150

// isBefore says whether what is of a slot is older than what is of another one.
func isBefore(slot, known uint64) bool { return slot < known && slot+takenBack >= known }

// doubtPause is how long what is being done about a negotiation goes on before it is looked at because something may have happened.
const doubtPause = time.Second

// doubt has a negotiation looked at because something may have happened to it. Anyone can send a transaction that looks like that, as
// often as they like: it neither takes back a question to the agent, whose answer is only acted on if the state is still the same, nor
// does it cost more than a look now and then.
func (l *loop) doubt(f *followed) {
	f.doubted = f.doubted || f.pausing || f.busy
	if f.pausing {
		return
	}
	if !f.doubted {
		l.look(f)
	}
	l.pause(f)
}

// pause has a negotiation that is doubted by then looked at in a moment, when nothing is being done about it.
func (l *loop) pause(f *followed) {
	f.pausing = true
	time.AfterFunc(doubtPause, func() {
		l.post(func() {
			f.pausing = f.doubted && l.followed[f.address] == f && !l.stopping
			if !f.pausing {
				return
			}
			if !f.busy {
				f.doubted = false
				l.look(f)
			}
			l.pause(f)
		})
	})
}

// note keeps what an event says that the account does not.
func (f *followed) note(seen haggle.Observation) {
	switch event := seen.Event.(type) {
	case *protocol.NegotiationCreated:
		f.offers, f.result, f.closed, f.live = nil, nil, false, true
	case *protocol.NegotiationClosed:
		f.closed = true
	case *protocol.OfferSubmitted:
		f.addOffer(pastOffer(event, seen.Slot))
	case *protocol.NegotiationSettled:
		f.result = &Result{Status: protocol.NegotiationStatusSettled, Price: event.SettledAmount, Fee: event.ProtocolFee, Rounds: event.TotalRounds}
	case *protocol.NegotiationExpired:
		f.result = &Result{Status: protocol.NegotiationStatusExpired, Rounds: event.RoundsCompleted}
	case *protocol.NegotiationRejected:
		f.result = &Result{Status: protocol.NegotiationStatusRejected, Rounds: event.RoundsCompleted}
	}
}

func (f *followed) addOffer(offer PastOffer) {
	at, known := slices.BinarySearchFunc(f.offers, offer.Round, func(o PastOffer, round uint8) int { return int(o.Round) - int(round) })
	if !known {
		f.offers = slices.Insert(f.offers, at, offer)
	}
}

// pastOffer is an offer as its event tells it: rounds alternate, and the buyer makes the first.
func pastOffer(event *protocol.OfferSubmitted, slot uint64) PastOffer {
	side := protocol.OfferSideSeller
	if event.Round%2 == 1 {
		side = protocol.OfferSideBuyer
	}
	return PastOffer{
		Round: event.Round, Side: side, Amount: event.Amount, Escrow: event.EffectiveEscrow, At: event.Timestamp, Slot: slot,
	}
}
