package events

import "time"

// Lag is a subscription's delay behind the chain, as far as the client knows.
type Lag struct {
	// Slots counts the slots between the oldest undelivered event and the newest slot known to the client;
	// zero if there is no such event. A slot takes about 0.4 seconds.
	Slots uint64
	// Time is how long that event has waited, or how long the event source has been disconnected if that is
	// longer.
	Time time.Duration
	// Held counts the events that wait for the listener.
	Held int
	// Connected reports whether the event source is connected.
	Connected bool
	// Checked is the time of the last successful check for missed events; zero before the first check. All
	// other fields ignore events missed since then.
	Checked time.Time
}
