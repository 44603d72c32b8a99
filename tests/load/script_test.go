package load

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// The protocol's table: 5,000,000 at 200 basis points leave 4,429,212 after six rounds.
func TestDecayIsThePublishedOne(t *testing.T) {
	effective := uint64(5_000_000)
	for _, want := range []uint64{4_900_000, 4_802_000, 4_705_960, 4_611_841, 4_519_604, 4_429_212} {
		effective = decayed(effective, 200)
		require.Equal(t, want, effective)
	}
}

func TestScriptsDivideTheWholeEscrow(t *testing.T) {
	common := terms{decayBps: 200, feeBps: 50}
	type course struct {
		accepted bool
		ender    protocol.OfferSide
	}
	courses := map[course]int{}
	closers := map[protocol.OfferSide]int{}
	for number := range 1000 {
		s := scriptFor(number, common)
		d := s.division(common)
		require.Equal(t, s.escrow, d.toSeller+d.fee+d.decay+d.refund, "negotiation %d", number)
		require.GreaterOrEqual(t, len(s.offers), 4, "several offers each way")
		for round, offer := range s.offers {
			require.Equal(t, protocol.OfferSide(round%2), offer.side, "the buyer opens, and turns alternate")
			require.LessOrEqual(t, offer.amount, offer.effective)
			require.GreaterOrEqual(t, offer.amount, offer.effective/10)
		}
		if s.accepted {
			require.NotEqual(t, s.last().side, s.ender, "a party does not accept its own offer")
		} else {
			require.Zero(t, d.toSeller+d.fee)
		}
		courses[course{s.accepted, s.ender}]++
		closers[s.closer]++
	}
	require.Len(t, courses, 4, "either side accepts, and either side rejects")
	require.Len(t, closers, 2)
	require.Equal(t, division{toSeller: 2_985_000, fee: 15_000, decay: 294_040, refund: 1_705_960},
		(&script{escrow: 5_000_000, accepted: true,
			offers: []offer{{amount: 3_000_000, effective: 4_705_960}}}).division(common))
}
