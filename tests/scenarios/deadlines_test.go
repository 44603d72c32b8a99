package scenarios

import (
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// The shortest window and deadline of the protocol.
const minute = time.Minute

func TestResponseWindow(t *testing.T) {
	t.Parallel()
	type point struct {
		name   string
		offers []uint64
		late   func(d *deal) []move
		want   holdings
	}
	points := []point{
		{
			name: "timeout_expiry_buyer_never_opens",
			late: func(d *deal) []move {
				return []move{d.offer(d.buyer, 2_000_000), d.reject(d.buyer), d.reject(d.seller)}
			},
			want: holdings{buyer: 5_000_000},
		},
		{
			name:   "timeout_expiry_seller_never_answers",
			offers: []uint64{2_000_000},
			late: func(d *deal) []move {
				return []move{d.offer(d.seller, 3_000_000), d.accept(d.seller), d.reject(d.seller), d.reject(d.buyer)}
			},
			want: holdings{buyer: 4_900_000, treasury: 100_000},
		},
		{
			name:   "timeout_expiry_buyer_never_answers",
			offers: []uint64{2_000_000, 4_000_000},
			late: func(d *deal) []move {
				return []move{d.offer(d.buyer, 3_000_000), d.accept(d.buyer), d.reject(d.buyer), d.reject(d.seller)}
			},
			want: holdings{buyer: 4_802_000, treasury: 198_000},
		},
	}
	for _, point := range points {
		t.Run(point.name, func(t *testing.T) {
			scenarioOverTime(t, point.name, func(s *fixture) {
				terms := s.terms()
				terms.ResponseWindow, terms.Deadline = minute, 24*time.Hour
				d := s.bargain(terms)
				d.offers(point.offers...)
				d.expiresInTime(protocol.ErrResponseWindowExpired, point.late, point.want)
			})
		})
	}
}

func TestGlobalDeadline(t *testing.T) {
	t.Parallel()
	t.Run("no acceptance of the invitation", func(t *testing.T) {
		scenarioOverTime(t, "timeout_expiry_never_accepted", func(s *fixture) {
			terms := s.terms()
			terms.Deadline = minute
			d, _ := s.invite(terms)
			d.expiresInTime(protocol.ErrExpired, func(d *deal) []move {
				return []move{d.takePart(d.seller), d.reject(d.buyer), d.reject(d.seller)}
			}, holdings{buyer: 5_000_000})
		})
	})
	t.Run("the deadline cuts the window short", func(t *testing.T) {
		scenarioOverTime(t, "timeout_expiry_global_deadline", func(s *fixture) {
			terms := s.terms()
			terms.ResponseWindow, terms.Deadline = time.Hour, minute
			d := s.bargain(terms)
			d.offers(2_000_000, 4_000_000)
			state := d.state()
			require.Equal(s.t, state.GlobalDeadline, state.TurnDeadline)
			d.expiresInTime(protocol.ErrExpired, func(d *deal) []move {
				return []move{d.offer(d.buyer, 3_000_000), d.accept(d.buyer), d.reject(d.buyer), d.reject(d.seller)}
			}, holdings{buyer: 4_802_000, treasury: 198_000})
		})
	})
}

// The last offer can be accepted until the turn ends.
func TestLastOfferTimesOut(t *testing.T) {
	scenarioOverTime(t, "max_rounds_timeout", func(s *fixture) {
		terms := s.terms()
		terms.MaxRounds, terms.ResponseWindow = 1, minute
		d := s.bargain(terms)
		d.offers(2_000_000)
		d.expiresInTime(protocol.ErrResponseWindowExpired, func(d *deal) []move {
			return []move{d.offer(d.seller, 3_000_000), d.accept(d.seller)}
		}, holdings{buyer: 4_900_000, treasury: 100_000})
	})
}

// Each offer restarts the window: a negotiation can last many windows.
func TestWindowRestarts(t *testing.T) {
	scenarioOverTime(t, "window_restarts", func(s *fixture) {
		terms := s.terms()
		terms.ResponseWindow, terms.Deadline = minute, time.Hour
		d := s.bargain(terms)
		first := d.state().TurnDeadline
		for _, amount := range []uint64{2_000_000, 4_000_000} {
			require.NoError(s.t, s.venue.AdvanceTo(s.ctx, d.state().TurnDeadline-25))
			d.offers(amount)
		}
		now, err := s.venue.Now(s.ctx)
		require.NoError(s.t, err)
		require.Greater(s.t, now, first, "past the end of the first window")
		s.do(d.accept(s.buyer))
		d.closes(s.buyer)
		s.ends(holdings{buyer: 802_000, seller: 3_980_000, treasury: 20_000 + 198_000})
	})
}

// A buyer whose refund fails does not keep an overdue negotiation open.
func TestExpiryWithoutTheBuyersAccount(t *testing.T) {
	scenarioOverTime(t, "expiry_without_the_buyers_account", func(s *fixture) {
		terms := s.terms()
		terms.ResponseWindow = minute
		d := s.bargain(terms)
		d.offers(2_000_000)
		require.NoError(s.t, s.venue.CloseTokenAccount(s.ctx, s.buyer.account, s.buyer.private))
		require.NoError(s.t, s.venue.AdvanceTo(s.ctx, d.state().TurnDeadline))
		d.isKept(s.do(d.expire(s.stranger())), s.buyer, 4_900_000)
		other := s.anotherAccount(s.buyer)
		d.closesWith(d.closeTo(s.seller, delivery{toBuyer: other}))
		s.ends(holdings{treasury: 100_000, elsewhere: map[solana.PublicKey]uint64{other: 4_900_000}})
	})
}

// expiresInTime asserts that before the deadline the negotiation cannot be expired, and that from the
// deadline on no other action succeeds and anyone can expire it.
func (d *deal) expiresInTime(late error, moves func(d *deal) []move, want holdings) {
	d.t.Helper()
	anyone := d.stranger()
	before := d.state()
	d.refuses(protocol.ErrInvalidState, d.expire(anyone))
	require.NoError(d.t, d.venue.AdvanceTo(d.ctx, before.TurnDeadline))
	d.refuses(late, moves(d)...)

	expired := the[*protocol.NegotiationExpired](d.t, d.do(d.expire(anyone)))
	require.GreaterOrEqual(d.t, expired.Timestamp, before.TurnDeadline)
	require.Equal(d.t, &protocol.NegotiationExpired{
		NegotiationID: d.address, RefundAmount: before.EffectiveEscrow, RoundsCompleted: before.CurrentRound, Timestamp: expired.Timestamp,
	}, expired)
	require.Equal(d.t, protocol.NegotiationStatusExpired, d.state().Status)
	d.refuses(protocol.ErrInvalidState, append(moves(d), d.expire(anyone))...)
	d.closes(anyone)
	d.ends(want)
}
