package scenarios

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// extend is an offer of the party that proposes to extend the global deadline.
func (d *deal) extend(by party, amount uint64, extension time.Duration) move {
	return move{by, func(ctx context.Context) (*haggle.Action, error) {
		return d.venue.client.Negotiation(d.address).SubmitOffer(by.PublicKey(), haggle.Offer{Amount: amount, DeadlineExtension: extension}).Build(ctx)
	}}
}

// deadlineIs asserts the global deadline in Unix seconds, and the pending extension in seconds.
func (d *deal) deadlineIs(deadline int64, pending uint32) {
	d.t.Helper()
	state := d.state()
	require.Equal(d.t, deadline, state.GlobalDeadline, "the global deadline")
	require.Equal(d.t, pending, state.PendingExtension, "pending extension")
}

// If both sides propose an extension in successive offers, the smaller one applies.
func TestExtensionAgreed(t *testing.T) {
	scenario(t, "deadline_extension_agreed", func(s *fixture) {
		d := s.bargain(s.terms())
		deadline := d.state().GlobalDeadline
		s.do(d.extend(s.buyer, 2_000_000, 30*time.Minute))
		d.deadlineIs(deadline, 1_800)
		s.do(d.extend(s.seller, 4_000_000, 10*time.Minute))
		d.deadlineIs(deadline+600, 0)
		s.do(d.extend(s.buyer, 2_500_000, time.Minute))
		d.deadlineIs(deadline+600, 60)
		s.do(d.extend(s.seller, 3_500_000, time.Hour))
		d.deadlineIs(deadline+660, 0)
		s.do(d.accept(s.buyer))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 4_611_841 - 3_500_000, seller: 3_482_500, treasury: 17_500 + 388_159})
	})
}

// One side alone cannot extend the deadline: an unanswered proposal lapses.
func TestExtensionIgnored(t *testing.T) {
	scenario(t, "deadline_extension_ignored", func(s *fixture) {
		d := s.bargain(s.terms())
		deadline := d.state().GlobalDeadline
		s.do(d.extend(s.buyer, 2_000_000, 30*time.Minute))
		d.deadlineIs(deadline, 1_800)
		s.do(d.offer(s.seller, 4_000_000))
		d.deadlineIs(deadline, 0)
		s.do(d.offer(s.buyer, 2_500_000))
		s.do(d.extend(s.seller, 3_500_000, time.Hour))
		d.deadlineIs(deadline, 3_600)
		s.do(d.accept(s.buyer))
		d.closes(s.seller)
		s.ends(holdings{buyer: 4_611_841 - 3_500_000, seller: 3_482_500, treasury: 17_500 + 388_159})
	})
}

// No extension goes beyond one day after the creation, and none takes the time that the milestones need.
func TestExtensionTooFar(t *testing.T) {
	t.Parallel()
	for _, limit := range []struct {
		name  string
		terms func(s *fixture) haggle.CreateRequest
		last  func(state *haggle.Snapshot) int64
	}{
		{
			"deadline_extension_beyond_a_day",
			func(s *fixture) haggle.CreateRequest {
				terms := s.terms()
				terms.Deadline = 23*time.Hour + 30*time.Minute
				return terms
			},
			func(state *haggle.Snapshot) int64 { return state.CreatedAt + 86_400 },
		},
		{
			"deadline_extension_at_the_expense_of_milestones",
			func(s *fixture) haggle.CreateRequest {
				terms := inTranches(s.terms(), s.stranger(), 5_000, 5_000)
				terms.Milestones.Delivery = 4 * time.Hour
				return terms
			},
			func(state *haggle.Snapshot) int64 {
				return state.MilestoneDeadline - 2*(reviewWindow+protocol.MilestoneSlack)
			},
		},
	} {
		t.Run(limit.name, func(t *testing.T) {
			scenario(t, limit.name, func(s *fixture) {
				d := s.bargain(limit.terms(s))
				state := d.state()
				last := limit.last(state)
				room := time.Duration(last-state.GlobalDeadline) * time.Second
				s.do(d.extend(s.buyer, 2_000_000, 24*time.Hour))
				d.deadlineIs(state.GlobalDeadline, 86_400)
				s.refuses(protocol.ErrInvalidParams, d.extend(s.seller, 4_000_000, room+time.Second), d.extend(s.seller, 4_000_000, 24*time.Hour))
				s.do(d.extend(s.seller, 4_000_000, room))
				d.deadlineIs(last, 0)
				s.do(d.reject(s.seller))
				d.closes(s.buyer)
				s.ends(holdings{buyer: 4_802_000, treasury: 198_000})
			})
		})
	}
}

// A negotiation with an extended deadline lives until the new deadline: past the old deadline it accepts
// actions and cannot be expired.
func TestExpiryAfterExtension(t *testing.T) {
	scenarioOverTime(t, "deadline_extension_moves_expiry", func(s *fixture) {
		terms := s.terms()
		terms.ResponseWindow, terms.Deadline = time.Hour, minute
		d := s.bargain(terms)
		deadline := d.state().GlobalDeadline
		s.do(d.extend(s.buyer, 2_000_000, time.Hour))
		require.Equal(s.t, deadline, d.state().TurnDeadline, "a proposal alone moves nothing")
		s.do(d.extend(s.seller, 4_000_000, 45*time.Second))
		d.deadlineIs(deadline+45, 0)
		require.Equal(s.t, deadline+45, d.state().TurnDeadline)

		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, deadline))
		s.refuses(protocol.ErrInvalidState, d.expire(s.seller))
		s.do(d.offer(s.buyer, 2_500_000))
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, deadline+45))
		s.refuses(protocol.ErrExpired, d.offer(s.seller, 3_500_000), d.accept(s.seller), d.reject(s.buyer))
		d.emits(s.do(d.expire(s.stranger())), &protocol.NegotiationExpired{RefundAmount: 4_705_960, RoundsCompleted: 3})
		d.closes(s.seller)
		s.ends(holdings{buyer: 4_705_960, treasury: 294_040})
	})
}
