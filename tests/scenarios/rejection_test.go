package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Until an agreement, either side may reject at any point; the buyer gets the escrow less the decay.
func TestRejection(t *testing.T) {
	t.Parallel()
	type point struct {
		name    string
		reach   func(d *deal)
		status  protocol.NegotiationStatus
		refund  uint64
		decayed uint64
	}
	points := []point{
		{"when_created", func(*deal) {}, protocol.NegotiationStatusCreated, 5_000_000, 0},
		{"before_the_first_offer", func(d *deal) {
			d.do(d.takePart(d.seller))
		}, protocol.NegotiationStatusProposed, 5_000_000, 0},
		{"when_proposed", func(d *deal) {
			d.do(d.takePart(d.seller))
			d.offers(2_000_000)
		}, protocol.NegotiationStatusProposed, 4_900_000, 100_000},
		{"when_countered", func(d *deal) {
			d.do(d.takePart(d.seller))
			d.offers(2_000_000, 4_000_000)
		}, protocol.NegotiationStatusCountered, 4_802_000, 198_000},
	}
	sides := []struct {
		name string
		of   func(s *fixture) party
	}{
		{"buyer", func(s *fixture) party { return s.buyer }},
		{"seller", func(s *fixture) party { return s.seller }},
	}
	for _, point := range points {
		for _, side := range sides {
			name := "rejection_by_" + side.name + "_" + point.name
			t.Run(name, func(t *testing.T) {
				scenario(t, name, func(s *fixture) {
					d, _ := s.invite(s.terms())
					point.reach(d)
					before := d.state()
					require.Equal(s.t, point.status, before.Status)

					receipt := s.do(d.reject(side.of(s)))
					require.Equal(s.t, &protocol.NegotiationRejected{
						NegotiationID: d.address, RejectedBy: side.of(s).PublicKey(), RefundAmount: point.refund,
						RoundsCompleted: before.CurrentRound, Timestamp: the[*protocol.NegotiationRejected](s.t, receipt).Timestamp,
					}, the[*protocol.NegotiationRejected](s.t, receipt))
					require.Equal(s.t, protocol.NegotiationStatusRejected, d.state().Status)
					require.Equal(s.t, point.refund, s.tokens(s.buyer.account))
					require.Equal(s.t, point.decayed, s.tokens(d.vault))

					d.closes(s.stranger())
					s.ends(holdings{buyer: point.refund, treasury: point.decayed})
				})
			})
		}
	}
}

// Once the negotiation has ended, in whatever way, no action succeeds; once it is closed, no account is left.
func TestNoActionAfterTheEnd(t *testing.T) {
	t.Parallel()
	ends := []struct {
		name string
		end  func(d *deal)
		want holdings
	}{
		{"nothing_after_settlement", func(d *deal) { d.do(d.accept(d.buyer)) },
			holdings{buyer: 802_000, seller: 3_980_000, treasury: 20_000 + 198_000}},
		{"nothing_after_rejection", func(d *deal) { d.do(d.reject(d.seller)) },
			holdings{buyer: 4_802_000, treasury: 198_000}},
	}
	for _, end := range ends {
		t.Run(end.name, func(t *testing.T) {
			scenario(t, end.name, func(s *fixture) {
				d := s.bargain(s.terms())
				d.offers(2_000_000, 4_000_000)
				everything := d.everything()
				end.end(d)
				s.refuses(protocol.ErrInvalidState, everything...)
				s.refuses(protocol.ErrInvalidParams, d.claimOf(s.seller, s.seller.account, 0))
				s.refuses(protocol.ErrStaleState, d.claimOf(s.seller, s.seller.account, 1))
				d.closes(s.seller)
				s.refuses(protocol.ErrAccountOwnedByWrongProgram, everything...)
				s.ends(end.want)
			})
		})
	}
}

// everything returns every possible move while it is the buyer's turn, prepared now and to be sent later.
func (d *deal) everything() []move {
	return []move{
		d.prepare(d.offer(d.buyer, 3_000_000)),
		d.prepare(d.accept(d.buyer)),
		d.prepare(d.reject(d.buyer)),
		d.prepare(d.reject(d.seller)),
		d.prepare(d.expire(d.seller)),
	}
}
