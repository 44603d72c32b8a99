package agent

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/internal/wait"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// listen keeps a subscription to the events of the wallet's negotiations, and renews it.
func (l *loop) listen() {
	for {
		err := l.consume()
		if l.ctx.Err() != nil {
			return
		}
		if errors.Is(err, haggle.ErrClientClosed) {
			l.end(err)
			return
		}
		l.config.Logger.Warn("subscription failed; the next attempt follows", "error", err)
		l.post(func() { l.unsubscribed = true })
		if wait.For(l.ctx, resubscribeAfter) != nil {
			return
		}
	}
}

func (l *loop) consume() error {
	subscription, err := l.subscribe()
	if err != nil {
		return err
	}
	defer subscription.Close()
	// The list contains earlier events.
	l.post(func() {
		l.unsubscribed = false
		l.requestReconcile()
	})
	for envelope := range subscription.Events() {
		l.post(func() { l.onEvent(envelope) })
	}
	return subscription.Err()
}

// subscribe returns a subscription to one negotiation, or to all of the wallet's. It runs in listen's
// goroutine.
func (l *loop) subscribe() (*haggle.Subscription, error) {
	chosen := inLoop(l, func() (address solana.PublicKey) {
		if l.single != nil {
			address = l.single.address
		}
		return address
	})
	if chosen.IsZero() {
		return l.client.WatchAgent(l.ctx, l.self)
	}
	return l.client.Watch(l.ctx, chosen)
}

// onEvent processes an event.
func (l *loop) onEvent(envelope haggle.EventEnvelope) {
	if envelope.Truncated {
		if f := l.tracked[envelope.Negotiation]; f != nil {
			f.offers = nil
			l.onHint(f)
		} else {
			l.requestReconcile()
		}
		return
	}
	f := l.tracked[envelope.Negotiation]
	if f == nil {
		if l.single.isChosen() {
			return
		}
		if _, closed := envelope.Event.(*protocol.NegotiationClosed); closed {
			return
		}
		f = &tracked{address: envelope.Negotiation}
		l.tracked[envelope.Negotiation] = f
	}
	f.note(envelope)
	// A snapshot of the same slot may predate the event. The next snapshot shows whether the event changed a
	// pending call's position.
	if isBefore(envelope.Slot, f.slot) {
		return
	}
	f.eventSlot = envelope.Slot
	l.refresh(f)
}

// reorgSlots limits the difference between known and older slots. If it is exceeded, a node returned a slot
// that never existed, which must not hide earlier events.
const reorgSlots = 150

// isBefore reports whether a slot is older than the known slot.
func isBefore(slot, known uint64) bool { return slot < known && slot+reorgSlots >= known }

// hintInterval is the shortest time between refreshes that hints cause.
const hintInterval = time.Second

// onHint refreshes a negotiation that a transaction may have changed. Anyone can send such transactions, as
// often as they like, so their refreshes are limited, and wait for an action in progress.
func (l *loop) onHint(f *tracked) {
	f.hinted = f.hinted || f.pausing || f.acting
	if f.pausing {
		return
	}
	if !f.hinted {
		l.refresh(f)
	}
	l.pauseHints(f)
}

// pauseHints refreshes a hinted negotiation after hintInterval, once no action is in progress.
func (l *loop) pauseHints(f *tracked) {
	f.pausing = true
	time.AfterFunc(hintInterval, func() {
		l.post(func() {
			f.pausing = f.hinted && l.tracked[f.address] == f && !l.stopping
			if !f.pausing {
				return
			}
			if !f.acting {
				f.hinted = false
				l.refresh(f)
			}
			l.pauseHints(f)
		})
	})
}

// note keeps what an event shows and the account does not.
func (f *tracked) note(envelope haggle.EventEnvelope) {
	switch event := envelope.Event.(type) {
	case *protocol.NegotiationCreated:
		f.offers, f.result, f.closed, f.live = nil, nil, false, true
	case *protocol.NegotiationClosed:
		f.closed = true
	case *protocol.OfferSubmitted:
		f.addOffer(pastOffer(event, envelope.Slot))
	case *protocol.NegotiationSettled:
		f.result = &Result{
			Status: protocol.NegotiationStatusSettled, Price: event.SettledAmount, Fee: event.ProtocolFee,
			Rounds: event.TotalRounds,
		}
	case *protocol.NegotiationExpired:
		f.result = &Result{Status: protocol.NegotiationStatusExpired, Rounds: event.RoundsCompleted}
	case *protocol.NegotiationRejected:
		f.result = &Result{Status: protocol.NegotiationStatusRejected, Rounds: event.RoundsCompleted}
	}
}

func (f *tracked) addOffer(offer PastOffer) {
	at, known := slices.BinarySearchFunc(f.offers, offer.Round,
		func(o PastOffer, round uint8) int { return cmp.Compare(o.Round, round) })
	if !known {
		f.offers = slices.Insert(f.offers, at, offer)
	}
}

// pastOffer returns the offer of an event: rounds alternate, and the buyer makes the first offer.
func pastOffer(event *protocol.OfferSubmitted, slot uint64) PastOffer {
	side := protocol.OfferSideSeller
	if event.Round%2 == 1 {
		side = protocol.OfferSideBuyer
	}
	return PastOffer{
		Round: event.Round, Side: side, Amount: event.Amount, Escrow: event.EffectiveEscrow, At: event.Timestamp,
		Slot: slot,
	}
}
