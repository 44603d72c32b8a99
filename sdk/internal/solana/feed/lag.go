package feed

import "time"

// Lag is the delay of a subscription behind the chain, as far as the feed knows.
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
func (s *Subscription) Lag() Lag {
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
	lag := Lag{Held: len(s.held)}
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
