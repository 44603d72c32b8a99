package feed

import (
	"time"

	"github.com/haggle-protocol/haggle/sdk/events"
)

// Lag returns the subscription's delay. If Slots and Time are zero, the listener received all events known to
// the client.
func (s *Subscription) Lag() events.Lag {
	w := s.watcher
	now := time.Now()
	oldest := time.Time{}
	from := uint64(0)
	include := func(since time.Time, slot uint64) {
		if since.IsZero() {
			return
		}
		if oldest.IsZero() || since.Before(oldest) {
			oldest = since
		}
		if from == 0 || slot != 0 && slot < from {
			from = slot
		}
	}
	w.lock.Lock()
	include(w.waitingSince, w.waitingFrom)
	w.lock.Unlock()

	s.lock.Lock()
	lag := events.Lag{Held: len(s.held)}
	if len(s.held) > 0 {
		include(s.held[0].since, s.held[0].Slot)
	}
	s.lock.Unlock()

	w.feed.lock.Lock()
	defer w.feed.lock.Unlock()
	include(w.feed.downSince, w.feed.downSlot)
	lag.Connected = w.feed.downSince.IsZero()
	lag.Checked = w.feed.reconciledAt
	if !oldest.IsZero() {
		lag.Time = now.Sub(oldest)
	}
	if from > 0 {
		lag.Slots = w.feed.newest - min(from, w.feed.newest)
	}
	return lag
}
