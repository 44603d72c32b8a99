package haggle

import (
	"context"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/internal/solana/feed"
)

// Subscription delivers events until it is closed, the context or the client ends, or it fails for good.
type Subscription struct {
	feed   *feed.Subscription
	events chan EventEnvelope
}

// Events returns the channel of events. It is closed at the end of the subscription.
func (s *Subscription) Events() <-chan EventEnvelope { return s.events }

// Err returns the reason for the end of the subscription. It returns nil before the end, and after Close.
func (s *Subscription) Err() error { return s.feed.Err() }

// Close ends the subscription and returns when all goroutines have ended. (The documents call it
// removeEventListener.) Undelivered events are lost. Calling it again does nothing.
func (s *Subscription) Close() { s.feed.Close() }

// Lag returns the delay of the subscription. If Slots and Time are zero, the listener received all events
// that the client knows.
func (s *Subscription) Lag() events.Lag { return s.feed.Lag() }

func (s *Subscription) deliver(ctx context.Context, delivery feed.Delivery) bool {
	select {
	case s.events <- envelopeOf(delivery):
		return true
	case <-ctx.Done():
		return false
	}
}
