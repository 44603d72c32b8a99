package scenarios

import (
	"slices"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// One agent buys twice and sells once; the chain finds each by role and by status.
func TestFindNegotiations(t *testing.T) {
	scenario(t, "find_negotiations", func(s *fixture) {
		require.NoError(s.t, s.venue.Transfer(s.ctx, s.mint, s.buyer.account, s.seller.account, s.buyer.private, 1_000_000))
		mirrored := *s
		mirrored.buyer, mirrored.seller = s.seller, s.buyer

		invited, _ := s.invite(s.termsOf(1_000_000))
		countered := s.bargain(s.termsOf(1_000_000))
		countered.offers(200_000, 500_000)
		sold := mirrored.bargain(mirrored.termsOf(1_000_000))
		sold.offers(500_000)
		s.do(sold.accept(s.buyer))

		agent := s.buyer.PublicKey()
		as := func(statuses ...protocol.NegotiationStatus) haggle.Filter {
			return haggle.Filter{Party: agent, Status: statuses}
		}
		s.finds(as(), invited, countered, sold)
		s.finds(haggle.Filter{Buyer: agent}, invited, countered)
		s.finds(haggle.Filter{Seller: agent}, sold)
		s.finds(as(protocol.NegotiationStatusCreated), invited)
		s.finds(as(protocol.NegotiationStatusCountered), countered)
		s.finds(as(protocol.NegotiationStatusSettled), sold)
		s.finds(as(protocol.NegotiationStatusCreated, protocol.NegotiationStatusSettled), invited, sold)
		s.finds(haggle.Filter{Buyer: agent,
			Status: []protocol.NegotiationStatus{protocol.NegotiationStatusSettled}})
		s.finds(haggle.Filter{Party: s.stranger().PublicKey()})

		s.do(invited.reject(s.seller))
		s.do(countered.reject(s.buyer))
		s.finds(as(protocol.NegotiationStatusRejected), invited, countered)
		for _, d := range []*deal{invited, countered, sold} {
			d.closes(s.seller)
		}
		s.finds(as())
		s.ends(holdings{
			buyer:    2_000_000 + 1_000_000 + 960_400 + 497_500,
			seller:   480_000,
			treasury: 39_600 + 20_000 + 2_500,
		})
	})
}

// finds asserts that a filter returns exactly these negotiations, each equal to the result from a single
// read.
func (s *fixture) finds(filter haggle.Filter, want ...*deal) {
	s.t.Helper()
	var found []solana.PublicKey
	for state, err := range s.venue.client.FindNegotiations(s.ctx, filter) {
		require.NoError(s.t, err)
		found = append(found, state.Address)
		if i := slices.IndexFunc(want, func(d *deal) bool { return d.address.Equals(state.Address) }); i >= 0 {
			require.Equal(s.t, want[i].state().Negotiation, state.Negotiation)
		}
	}
	wanted := []solana.PublicKey{}
	for _, d := range want {
		wanted = append(wanted, d.address)
	}
	require.ElementsMatch(s.t, wanted, found)
}
