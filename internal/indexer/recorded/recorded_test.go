package recorded

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

var buyer, seller = solana.PublicKey{1}, solana.PublicKey{2}

func created() *protocol.NegotiationCreated {
	return &protocol.NegotiationCreated{
		Buyer: buyer, Seller: seller, EscrowAmount: 5_000_000, MaxRounds: 6, DecayRateBps: 200,
		ProtocolFeeBps: 50, Timestamp: 1_000, GlobalDeadline: 4_600,
	}
}

func offer(round uint8, amount, escrow uint64) *protocol.OfferSubmitted {
	return &protocol.OfferSubmitted{Round: round, Amount: amount, EffectiveEscrow: escrow}
}

func TestLatestNegotiation(t *testing.T) {
	n := Of([]protocol.Event{
		created(), offer(1, 1, 4_900_000), &protocol.NegotiationRejected{},
		created(),
		&protocol.InvitationAccepted{Timestamp: 1_600},
		&protocol.ZopaRevealed{Agent: buyer, Price: 4_000_000},
		&protocol.ZopaRevealed{Agent: seller, Price: 3_000_000},
		offer(1, 2_000_000, 4_900_000), offer(2, 4_000_000, 4_802_000),
		&protocol.OfferAccepted{Amount: 4_000_000, Round: 2}, &protocol.NegotiationSettled{},
	})
	require.Equal(t, "settled", n.Ending)
	require.Equal(t, game.Result{Agreed: true, Price: 4_000_000, Offers: 2, Decay: 198_000}, n.Result())
	prices, err := n.Prices()
	require.NoError(t, err)
	require.Equal(t, []uint64{2_000_000, 4_000_000}, prices.Offers)
	h, ok := n.Game()
	require.True(t, ok)
	require.Equal(t, int64(3_000), h.Rules.Deadline, "from the time at which the seller joined")
	require.Equal(t, uint64(2_985_000), h.Cost)
	nash, ok := h.NashPrice()
	require.True(t, ok)
	// The lowest price that leaves 2,985,000 is 2,999,999: the midpoint equals the program's, or one less.
	require.Equal(t, uint64(3_499_999), nash)
}

// TestTermsBesideThePrice has them at the creation or at the settlement. A strategy hash is none.
func TestTermsBesideThePrice(t *testing.T) {
	terms := protocol.TermsDocument{1}.Metadata()
	strategy := protocol.Terms{StrategyHash: [32]byte{1}}.Metadata()
	start := created()
	require.False(t, Of([]protocol.Event{start, &protocol.NegotiationSettled{}}).HasTerms)
	require.False(t, Of([]protocol.Event{start, &protocol.NegotiationSettled{Metadata: strategy}}).HasTerms)
	require.True(t, Of([]protocol.Event{start, &protocol.NegotiationSettled{Metadata: terms}}).HasTerms)
	start.Metadata = terms
	require.True(t, Of([]protocol.Event{start}).HasTerms)
	require.True(t, Of([]protocol.Event{start, &protocol.NegotiationSettled{}}).HasTerms)
	require.False(t, Of([]protocol.Event{start, created()}).HasTerms, "of the latest negotiation")
}

func TestMissingEvents(t *testing.T) {
	for _, events := range [][]protocol.Event{nil, {offer(1, 1, 1)}, {created(), offer(2, 1, 1)}} {
		n := Of(events)
		_, err := n.Prices()
		require.ErrorIs(t, err, ErrIncomplete)
		_, ok := n.Game()
		require.False(t, ok)
	}
	open := Of([]protocol.Event{created()})
	require.Empty(t, open.Ending)
	require.Zero(t, open.Decay())
	expired := Of([]protocol.Event{created(), &protocol.NegotiationExpired{}})
	require.Equal(t, "expired", expired.Ending)
}

// The bond moves both limits: see package game.
func TestRulesHaveTheBond(t *testing.T) {
	terms := created()
	terms.BondRequired = 7
	n := Of([]protocol.Event{terms})
	require.EqualValues(t, 7, n.Rules().Bond)
}
