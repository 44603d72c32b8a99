package comparison

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/indexer/recorded"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// events returns a negotiation with an escrow of 1,000 that ends after 30 s.
func events(buyer, seller byte, offers []uint64, end ...protocol.Event) *recorded.Negotiation {
	all := []protocol.Event{&protocol.NegotiationCreated{
		Buyer: solana.PublicKey{buyer}, Seller: solana.PublicKey{seller}, EscrowAmount: 1000, MaxRounds: 20, Timestamp: 100,
	}}
	for i, price := range offers {
		all = append(all, &protocol.OfferSubmitted{Round: uint8(i + 1), Amount: price, EffectiveEscrow: 1000 - 10*uint64(i+1)})
	}
	n := recorded.Of(append(all, end...))
	return &n
}

func named(buyer, seller string) [2]Party {
	return [2]Party{{Declared: true, Value: buyer}, {Declared: true, Value: seller}}
}

func revealed(buyer, seller byte) []protocol.Event {
	return []protocol.Event{
		&protocol.ZopaRevealed{Agent: solana.PublicKey{buyer}, Price: 700}, &protocol.ZopaRevealed{Agent: solana.PublicKey{seller}, Price: 300},
	}
}

func TestGroups(t *testing.T) {
	c := &Comparison{}
	accepted := &protocol.OfferAccepted{Amount: 600, Timestamp: 130}
	add := func(n *recorded.Negotiation, parties [2]Party) { require.NoError(t, c.Add(n, true, parties)) }
	add(events(1, 9, []uint64{200, 600}, append(revealed(1, 9), accepted)...), named("a", "b"))
	add(events(2, 9, []uint64{200, 900, 300, 800}, &protocol.OfferAccepted{Amount: 800, Timestamp: 150}), named("a", "b"))
	add(events(1, 9, nil, &protocol.NegotiationExpired{Timestamp: 140}), named("a", "b"))
	add(events(1, 9, []uint64{200, 900}), named("a", "b")) // open
	late := named("", "b")
	late[0].Late, late[1].Declared, late[1].Value = true, false, ""
	add(events(3, 9, []uint64{100}, &protocol.NegotiationRejected{Timestamp: 110}), late)
	require.NoError(t, c.Add(events(1, 9, nil), false, named("a", "b")))
	require.NoError(t, c.Add(&recorded.Negotiation{}, true, named("a", "b")))
	require.Equal(t, 5, c.Negotiations)
	require.Equal(t, 2, c.Incomplete)

	groups := c.Groups()
	var names [][2]string
	for _, g := range groups {
		names = append(names, [2]string{g.Value, g.Side})
	}
	require.Equal(t, [][2]string{{"", "buyer"}, {"a", "buyer"}, {"b", "seller"}, {"", "seller"}}, names)
	require.False(t, groups[3].Declared)
	require.Equal(t, 1, groups[0].Late)

	a := groups[1]
	require.Equal(t, []int{2, 4, 1, 0}, []int{a.Agents, a.Negotiations, a.Open, a.Late})
	require.Equal(t, []int{2, 3}, []int{a.Agreement.Hits, a.Agreement.Count})
	require.Equal(t, 0.7, *a.PriceOfEscrow.Mean)
	require.Equal(t, 0.75, *a.PriceOfZone.Mean, "of one negotiation only")
	require.Equal(t, 0.25, *a.NashDistance.Mean)
	require.Nil(t, a.NashDistance.Low)
	require.Equal(t, 2.0, *a.Rounds.Mean)
	require.Equal(t, 40.0, *a.Seconds.Mean)
	require.Equal(t, 0.02, *a.Decay.Mean)
	require.Equal(t, 3, a.Concessions.Unknown)
	// The buyer conceded all 400 and then 600 of 700; the seller conceded nothing and then 100 of 700.
	require.InDelta(t, (1+6.0/7)/2, *a.Conceded.Mean, 1e-6)
	require.InDelta(t, 1.0/14, *groups[2].Conceded.Mean, 1e-6)
	require.Equal(t, groups, c.Groups(), "a second call returns the same")
}

func TestConcessionsAreClassed(t *testing.T) {
	c := &Comparison{}
	offers := []uint64{200, 900, 250, 900, 300, 900, 350, 900, 400, 900}
	require.NoError(t, c.Add(events(1, 2, offers, &protocol.NegotiationRejected{}), true, named("x", "y")))
	require.Equal(t, Concessions{Linear: 1}, c.Groups()[0].Concessions)
	require.Equal(t, Concessions{Hardliner: 1}, c.Groups()[1].Concessions)
}

// The intervals match the literature: NIST/SEMATECH e-Handbook 1.3.6.7.2 for Student's quantile 2.776, and
// Clopper and Pearson's for 4 of 10: 0.1216 to 0.7376.
func TestIntervals(t *testing.T) {
	m := meanOf([]float64{5, 1, 4, 2, 3})
	require.Equal(t, 3.0, *m.Mean)
	require.InDelta(t, 2.776*0.7071068, *m.High-*m.Mean, 1e-3)
	require.InDelta(t, *m.Mean-*m.Low, *m.High-*m.Mean, 1e-9)
	require.Equal(t, Mean{}, meanOf(nil))
	require.Nil(t, meanOf([]float64{1}).Low)

	s := shareOf(4, 10)
	require.InDelta(t, 0.1216, *s.Low, 1e-4)
	require.InDelta(t, 0.7376, *s.High, 1e-4)
	none, all := shareOf(0, 10), shareOf(10, 10)
	require.Equal(t, []float64{0, 1}, []float64{*none.Low, *all.High})
	require.InDelta(t, 0.3085, *none.High, 1e-4)
	require.Equal(t, Share{}, shareOf(0, 0))
}
