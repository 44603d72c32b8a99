package agent

import "github.com/haggle-protocol/haggle/sdk"

// history is what the events of an address tell. The same address can have had several negotiations, one after the other; each is
// known by the time of its creation.
type history struct {
	// latest is the creation of the one that the last event was about.
	latest int64
	ends   map[int64]Outcome
	closed map[int64]bool
}

func newHistory() history {
	return history{ends: map[int64]Outcome{}, closed: map[int64]bool{}}
}

func (h *history) hear(event haggle.Event) {
	switch e := event.(type) {
	case *haggle.NegotiationCreated:
		h.latest = e.Timestamp
		delete(h.ends, h.latest)
		delete(h.closed, h.latest)
	case *haggle.NegotiationSettled:
		h.ends[h.latest] = Outcome{haggle.NegotiationStatusSettled, e.SettledAmount, e.ProtocolFee, e.TotalRounds}
	case *haggle.NegotiationRejected:
		h.ends[h.latest] = Outcome{Status: haggle.NegotiationStatusRejected, Rounds: e.RoundsCompleted}
	case *haggle.NegotiationExpired:
		h.ends[h.latest] = Outcome{Status: haggle.NegotiationStatusExpired, Rounds: e.RoundsCompleted}
	case *haggle.NegotiationClosed:
		h.closed[h.latest] = true
	}
}
