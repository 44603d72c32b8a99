package haggle

import (
	"context"
	"time"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/feed"
)

// Subscription delivers events until it is closed, its context or its client ends, or it fails for good.
type Subscription struct {
	feed   *feed.Subscription
	events chan EventEnvelope
}

// Events returns the channel of events. It is closed at the end of the subscription.
func (s *Subscription) Events() <-chan EventEnvelope { return s.events }

// Err returns the reason for the end of the subscription. It returns nil before the end, and after Close.
func (s *Subscription) Err() error { return s.feed.Err() }

// Close ends the subscription and returns when all of its goroutines have ended. (The documents call it
// removeEventListener.) Events that the listener has not received are lost. Calling it again does nothing.
func (s *Subscription) Close() { s.feed.Close() }

// Lag is the delay of a subscription behind the chain, as far as the client knows.
type Lag struct {
	// Slots is the number of slots between the oldest event that the listener has not received and the newest
	// slot that the client knows; zero if there is no such event. A slot takes about 0.4 seconds.
	Slots uint64
	// Time is how long that event has waited, or how long the event source has been disconnected if that is
	// longer.
	Time time.Duration
	// Held is the number of events that wait for the listener to receive them.
	Held int
	// Connected reports whether the event source is connected.
	Connected bool
	// Checked is the time of the last successful check for events that the source has missed; zero before the
	// first one. The other fields do not include events that the source has missed since then.
	Checked time.Time
}

// Lag returns the delay of the subscription. If Slots and Time are zero, the listener has received all events
// that the client knows.
func (s *Subscription) Lag() Lag { return Lag(s.feed.Lag()) }

func (s *Subscription) deliver(ctx context.Context, delivery feed.Delivery) bool {
	select {
	case s.events <- envelopeOf(delivery):
		return true
	case <-ctx.Done():
		return false
	}
}
