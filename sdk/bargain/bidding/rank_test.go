package bidding_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// TestMiCROConcedesAsMuchAsTheHardestParty uses three parties. Party 0 offers 99, 98, ... to two opponents.
func TestMiCROConcedesAsMuchAsTheHardestParty(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 99, 1))
	require.NoError(t, err)
	line, err := utility.PriceLine(domain, true)
	require.NoError(t, err)
	preferences, err := bargain.NewPreferences(domain, line, 0)
	require.NoError(t, err)
	for _, test := range []struct {
		name string
		// offers lists the offers by parties 1 and 2 per step; acceptances do not count as offers.
		offers [2][]bargain.Outcome
		last   bargain.Outcome
	}{
		{"both concede", [2][]bargain.Outcome{{10, 11, 12, 13}, {20, 21, 22, 23}}, 95},
		{"party 1 repeats its offer", [2][]bargain.Outcome{{10, 10, 10, 10}, {20, 21, 22, 23}}, 98},
		{"party 2 repeats its offer", [2][]bargain.Outcome{{10, 11, 12, 13}, {20, 20, 20, 20}}, 98},
		{"party 1 accepts each new offer", [2][]bargain.Outcome{nil, {20, 21, 22, 23}}, 95},
		{"party 2 accepts each new offer", [2][]bargain.Outcome{{10, 11, 12, 13}, nil}, 95},
	} {
		t.Run(test.name, func(t *testing.T) {
			bidder := bidding.MiCRO{}.Bidder(bargain.Seat{
				Preferences: preferences, Parties: 3, Steps: 10, Random: bargain.NewRandom(1, 0),
			}, nil)
			state := &bargain.State{Steps: 10, Offer: bargain.NoOutcome, By: -1}
			offer := func(by int, o bargain.Outcome) {
				state.Offer, state.By = o, by
				state.History = append(state.History, bargain.Offer{By: by, Outcome: o})
			}
			lowest := bargain.Outcome(99)
			for step := range 5 {
				next := bidder.Next(state)
				bidder.Sent(next)
				lowest = min(lowest, next)
				offer(0, next)
				for i, offers := range test.offers {
					if step < len(offers) {
						offer(i+1, offers[step])
					}
				}
			}
			require.Equal(t, test.last, lowest)
		})
	}
}

// TestStepsReachTheWorstRationalOutcome uses prices up to 10 as a seller's utilities, with the limit 2. A
// tenth of the utility is a price.
func TestStepsReachTheWorstRationalOutcome(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 10, 1))
	require.NoError(t, err)
	line, err := utility.PriceLine(domain, true)
	require.NoError(t, err)
	preferences, err := bargain.NewPreferences(domain, line, fixed.One/10*2)
	require.NoError(t, err)
	for _, test := range []struct {
		step fixed.Number
		want []bargain.Outcome
	}{
		{0, []bargain.Outcome{10, 9, 8, 7, 6}},
		{fixed.One / 100, []bargain.Outcome{10, 9, 8, 7, 6}}, // less than a price
		{fixed.One / 10 * 3, []bargain.Outcome{10, 7, 4, 2, 2}},
		{fixed.One / 10 * 4, []bargain.Outcome{10, 6, 2, 2, 2}},
	} {
		bidder := bidding.Conceding{}.Bidder(bargain.Seat{Preferences: preferences, Step: test.step}, nil)
		for at, want := range test.want {
			next := bidder.Next(&bargain.State{})
			bidder.Sent(next)
			require.Equal(t, want, next, "step %v: offer %d", test.step, at)
		}
	}
}
