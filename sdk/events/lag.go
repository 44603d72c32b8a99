package events

import "time"

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
