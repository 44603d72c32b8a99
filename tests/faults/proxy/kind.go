package proxy

import (
	"fmt"
	"math/rand/v2"
)

// Kind is a kind of fault.
type Kind uint8

// The kinds of faults. Those up to Stale happen to requests, one at most to each.
const (
	// DroppedBefore: the connection ends before the request has been passed on.
	DroppedBefore Kind = iota
	// DroppedAfter: the connection ends when the node has answered, so that the request has taken effect and nobody knows.
	DroppedAfter
	// Delayed: the request is passed on late. A transaction is even if the client has gone meanwhile.
	Delayed
	// Repeated: the request is passed on twice, and the second answer given.
	Repeated
	// RateLimited: 429 with Retry-After; nothing is passed on.
	RateLimited
	// Failed: 500 or 503; nothing is passed on.
	Failed
	// FailedAfter: 500 or 502, although the request has been passed on and answered.
	FailedAfter
	// Truncated: the answer is cut off, with or without a length that says so.
	Truncated
	// Corrupted: the answer is no JSON.
	Corrupted
	// Stale: a read is answered as it would have been Options.Lag slots ago.
	Stale
	// ConnectionRefused: no WebSocket connection is made.
	ConnectionRefused
	// ConnectionCut: a WebSocket connection ends where a notification would have come, with a closing message or without.
	ConnectionCut
	// SubscriptionRefused: a subscription is answered with an error, and not passed on.
	SubscriptionRefused
	// NotificationDropped: a notification is not passed on.
	NotificationDropped
	// NotificationRepeated: a notification is passed on twice.
	NotificationRepeated
	// NotificationDelayed: a notification is passed on late, after others that have come later.
	NotificationDelayed

	kinds = int(NotificationDelayed) + 1
)

// Which kinds can happen where.
var (
	ofRequests      = []Kind{DroppedBefore, DroppedAfter, Delayed, Repeated, RateLimited, Failed, FailedAfter, Truncated, Corrupted, Stale}
	ofConnections   = []Kind{ConnectionRefused}
	ofSubscriptions = []Kind{SubscriptionRefused}
	ofNotifications = []Kind{ConnectionCut, NotificationDropped, NotificationRepeated, NotificationDelayed}
)

var names = [kinds]string{
	DroppedBefore:        "connection dropped before the request was passed on",
	DroppedAfter:         "connection dropped after the request had taken effect",
	Delayed:              "request delayed",
	Repeated:             "request passed on twice",
	RateLimited:          "429 with Retry-After",
	Failed:               "500 or 503, request not passed on",
	FailedAfter:          "500 or 502 although the request had taken effect",
	Truncated:            "answer cut off",
	Corrupted:            "answer that is no JSON",
	Stale:                "answer of a node that lies behind",
	ConnectionRefused:    "WebSocket connection refused",
	ConnectionCut:        "WebSocket connection cut",
	SubscriptionRefused:  "subscription refused",
	NotificationDropped:  "notification dropped",
	NotificationRepeated: "notification repeated",
	NotificationDelayed:  "notification delayed",
}

func (k Kind) String() string {
	if int(k) < kinds {
		return names[k]
	}
	return fmt.Sprintf("fault %d", uint8(k))
}

// Kinds are all kinds, those of requests first.
func Kinds() []Kind {
	all := make([]Kind, kinds)
	for i := range all {
		all[i] = Kind(i)
	}
	return all
}

// IsOfRequests says whether the fault happens to requests, rather than to WebSocket connections.
func (k Kind) IsOfRequests() bool { return k <= Stale }

// Rates say how often faults happen: of requests, of WebSocket connections, of subscriptions, of notifications, each from 0 to 1.
// Those of requests add up to 1 at most, and so do those of notifications.
type Rates map[Kind]float64

func (r Rates) check() error {
	for kind, rate := range r {
		if int(kind) >= kinds {
			return fmt.Errorf("faults: there is no %s", kind)
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

// pick draws one of the kinds, or none.
func (r Rates) pick(chance *rand.Rand, among []Kind) (Kind, bool) {
	drawn := chance.Float64()
	for _, kind := range among {
		if drawn < r[kind] {
			return kind, true
		}
		drawn -= r[kind]
	}
	return 0, false
}
