package proxy

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// Kind is a kind of fault, by description.
type Kind string

// The kinds of faults. Those up to Stale happen to requests, at most one to each.
const (
	// DroppedBefore: the connection ends before the request is passed on.
	DroppedBefore Kind = "connection dropped before the request was passed on"
	// DroppedAfter: the connection ends after the node has responded, so the request takes effect but the
	// response is lost.
	DroppedAfter Kind = "connection dropped after the request had taken effect"
	// Delayed: the request is passed on late. A transaction is passed on even if the client has disconnected.
	Delayed Kind = "request delayed"
	// Repeated: the request is passed on twice, and the second response is returned.
	Repeated Kind = "request passed on twice"
	// RateLimited: 429 with Retry-After; nothing is passed on.
	RateLimited Kind = "429 with Retry-After"
	// Failed: 500 or 503; nothing is passed on.
	Failed Kind = "500 or 503, request not passed on"
	// FailedAfter: 500 or 502, although the node has served the request.
	FailedAfter Kind = "500 or 502 although the request had taken effect"
	// Truncated: the response is truncated, with or without matching length.
	Truncated Kind = "truncated answer"
	// Corrupted: the response is not JSON.
	Corrupted Kind = "answer that is not JSON"
	// Stale: a read returns a response from at least Options.Lag slots ago.
	Stale Kind = "stale answer"
	// ConnectionRefused: a WebSocket connection is refused.
	ConnectionRefused Kind = "WebSocket connection refused"
	// ConnectionCut: a WebSocket connection ends in place of a notification, with or without close message.
	ConnectionCut Kind = "WebSocket connection cut"
	// SubscriptionRefused: a subscription gets an error, and is not passed on.
	SubscriptionRefused Kind = "subscription refused"
	// NotificationDropped: a notification is not passed on.
	NotificationDropped Kind = "notification dropped"
	// NotificationRepeated: a notification is passed on twice.
	NotificationRepeated Kind = "notification repeated"
	// NotificationDelayed: a notification is passed on late, after later notifications.
	NotificationDelayed Kind = "notification delayed"
)

// The kinds that are possible in each place.
var (
	ofRequests      = []Kind{DroppedBefore, DroppedAfter, Delayed, Repeated, RateLimited, Failed, FailedAfter, Truncated, Corrupted, Stale}
	ofConnections   = []Kind{ConnectionRefused}
	ofSubscriptions = []Kind{SubscriptionRefused}
	ofNotifications = []Kind{ConnectionCut, NotificationDropped, NotificationRepeated, NotificationDelayed}
)

// Kinds returns all kinds, request faults first.
func Kinds() []Kind {
	return slices.Concat(ofRequests, ofConnections, ofSubscriptions, ofNotifications)
}

// IsOfRequests reports whether the fault happens to requests rather than to WebSocket connections.
func (k Kind) IsOfRequests() bool { return slices.Contains(ofRequests, k) }

// Rates maps kinds to fault rates per request, WebSocket connection, subscription or notification, each
// between 0 and 1. Rates for requests sum to 1 or less, and so do rates for notifications.
type Rates map[Kind]float64

func (r Rates) check() error {
	for kind, rate := range r {
		if !slices.Contains(Kinds(), kind) {
			return fmt.Errorf("faults: there is no %q", kind)
		}
		if !(rate >= 0 && rate <= 1) {
			return fmt.Errorf("faults: %s: the rate is %v instead of 0 to 1", kind, rate)
		}
	}
	for _, among := range [][]Kind{ofRequests, ofNotifications} {
		sum := 0.0
		for _, kind := range among {
			sum += r[kind]
		}
		// Sums of decimal fractions are not exact.
		if sum > 1+1e-9 {
			return fmt.Errorf("faults: the rates from %q to %q add up to %v", among[0], among[len(among)-1], sum)
		}
	}
	return nil
}

// pick draws a kind, or none.
func (r Rates) pick(chance *rand.Rand, among []Kind) (Kind, bool) {
	drawn := chance.Float64()
	for _, kind := range among {
		if drawn < r[kind] {
			return kind, true
		}
		drawn -= r[kind]
	}
	return "", false
}
