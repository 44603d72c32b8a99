package haggle

import "time"

// Lag is how far a subscription is behind the chain, as far as is known.
type Lag struct {
	// Slots is how many slots lie between the oldest thing that the listener has still to be told, or has not received yet, and the
	// newest slot that the client knows of; zero if there is no such thing. A slot takes about 0.4 seconds.
	Slots uint64
	// Time is for how long that has been waiting, or for how long the source of events has been lost if that is longer.
	Time time.Duration
	// Held is how many events wait for the listener to receive them.
	Held int
	// Connected says whether the source of events can be reached.
	Connected bool
	// Checked is when the node was last asked, with success, whether there is anything that the source has not told of; zero if it has
	// not been asked yet. Something that the source has kept to itself since then is in none of the other fields.
	Checked time.Time
}

// Lag says how far the subscription is behind. The zero Slots and Time of an idle one mean that nothing is known that the listener has
// not received.
func (s *Subscription) Lag() Lag {
	w := s.watcher
	now := time.Now()
	oldest := time.Time{}
	from := uint64(0)
	waits := func(since time.Time, slot uint64) {
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
	waits(w.waitingSince, w.waitingFrom)
	w.lock.Unlock()

	s.lock.Lock()
	lag := Lag{Held: len(s.held)}
	if len(s.held) > 0 {
		waits(s.held[0].since, s.held[0].Slot)
	}
	s.lock.Unlock()

	w.stream.lock.Lock()
	defer w.stream.lock.Unlock()
	waits(w.stream.downSince, w.stream.lostAt)
	lag.Connected = w.stream.downSince.IsZero()
	lag.Checked = w.stream.reconciledAt
	if !oldest.IsZero() {
		lag.Time = now.Sub(oldest)
	}
	if from > 0 {
		lag.Slots = w.stream.newest - min(from, w.stream.newest)
	}
	return lag
}
