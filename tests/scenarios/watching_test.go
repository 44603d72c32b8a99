package scenarios

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// A subscription from the start and a later subscription from a past slot return the same: every event of the
// negotiation once, in order, and none from another negotiation.
func TestWatch(t *testing.T) {
	scenario(t, "watch_negotiation", func(s *fixture) {
		d, created := s.invite(s.termsOf(2_000_000))
		early := s.watches(s.venue.client.Watch(s.ctx, d.address))
		history := []*haggle.Receipt{s.do(d.takePart(s.seller))}
		do := func(m move) { history = append(history, s.do(m)) }

		other := s.bargain(s.termsOf(3_000_000))
		do(d.offer(s.buyer, 1_000_000))
		other.offers(1_000_000)
		do(d.offer(s.seller, 1_500_000))
		late := s.watches(s.venue.client.Watch(s.ctx, d.address, haggle.FromBeginning()))
		do(d.offer(s.buyer, 1_200_000))
		do(d.accept(s.seller))
		s.do(other.reject(s.buyer))
		history = append(history, d.closes(s.seller))
		other.closes(s.seller)

		early.sees(history...)
		history = append([]*haggle.Receipt{created}, history...)
		late.sees(history...)
		after := s.watches(s.venue.client.Watch(s.ctx, d.address, haggle.FromBeginning()))
		after.sees(history...) // the accounts are closed, and the events remain
		s.ends(holdings{
			buyer:    682_384 + 2_940_000,
			seller:   1_194_000,
			treasury: 6_000 + 117_616 + 60_000,
		})
	})
}

// A subscription to an agent finds negotiations when they are created, and returns both sides' events.
func TestWatchAgent(t *testing.T) {
	scenario(t, "watch_agent", func(s *fixture) {
		past, created := s.invite(s.termsOf(1_000_000))
		history := []*haggle.Receipt{created}
		do := func(m move) { history = append(history, s.do(m)) }
		do(past.takePart(s.seller))
		watching := s.watches(s.venue.client.WatchAgent(s.ctx, s.seller.PublicKey(), haggle.FromBeginning()))
		do(past.offer(s.buyer, 500_000))

		next, created := s.invite(s.termsOf(2_000_000))
		history = append(history, created)
		do(next.takePart(s.seller))
		do(next.offer(s.buyer, 1_000_000))
		do(past.reject(s.buyer))
		do(next.accept(s.seller))
		history = append(history, past.closes(s.stranger()), next.closes(s.stranger()))

		watching.sees(history...)
		s.ends(holdings{buyer: 2_000_000 + 980_000 + 960_000, seller: 995_000, treasury: 20_000 + 5_000 + 40_000})
	})
}

// watcher is a subscription whose events a scenario compares with the receipts of the scenario's
// transactions.
type watcher struct {
	*fixture
	subscription *haggle.Subscription
}

func (s *fixture) watches(subscription *haggle.Subscription, err error) watcher {
	s.t.Helper()
	require.NoError(s.t, err)
	s.t.Cleanup(subscription.Close)
	return watcher{s, subscription}
}

// sees asserts that these transactions' events arrive, each once and in order, and no others.
func (w watcher) sees(history ...*haggle.Receipt) {
	w.t.Helper()
	require.Equal(w.t, described(history), w.observe(len(described(history))))
}

// settlingTime is how long a duplicate or unrelated event may take to arrive.
const settlingTime = 500 * time.Millisecond

// observe returns the given number of events, and those that follow directly.
func (w watcher) observe(count int) []string {
	w.t.Helper()
	var seen []string
	patience := time.NewTimer(30 * time.Second)
	defer patience.Stop()
	for {
		select {
		case observed, open := <-w.subscription.Events():
			require.True(w.t, open, "the subscription ended: %v", w.subscription.Err())
			seen = append(seen, describe(observed.Signature, observed.Slot, observed.Event))
			if len(seen) == count {
				patience.Reset(settlingTime)
			}
		case <-patience.C:
			return seen
		}
	}
}

func described(history []*haggle.Receipt) []string {
	var events []string
	for _, receipt := range history {
		for _, event := range receipt.Events {
			events = append(events, describe(receipt.Signature, receipt.Slot, event))
		}
	}
	return events
}

func describe(signature fmt.Stringer, slot uint64, event protocol.Event) string {
	return fmt.Sprintf("%s of %s in slot %d: %+v", event.EventName(), signature, slot, event)
}
