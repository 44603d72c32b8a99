package bargain_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// puppet is a strategy that makes a test's moves, and passes the states to the test.
type puppet struct {
	seat  bargain.Seat
	state bargain.State
	move  bargain.Action
}

func (p *puppet) Start(seat bargain.Seat) bargain.Negotiator {
	p.seat = seat
	return p
}

func (p *puppet) Respond(state *bargain.State) bargain.Action {
	p.state = *state
	return p.move
}

// cheapAndEarly returns preferences for few days and low prices, with prices 100, 110, and so on to 200.
func cheapAndEarly(t *testing.T, reservation fixed.Number) *bargain.Preferences {
	t.Helper()
	domain, err := bargain.NewDomain(bargain.Integer("days", 1, 3), bargain.Price("price", 100, 200, 10))
	require.NoError(t, err)
	u, err := utility.NewAdditive(domain, 0, []fixed.Number{fixed.One / 2, fixed.One / 2},
		utility.Line{First: fixed.One, Count: 3}, utility.Line{First: fixed.One, Count: 11})
	require.NoError(t, err)
	preferences, err := bargain.NewPreferences(domain, u, reservation)
	require.NoError(t, err)
	return preferences
}

// TestACourseCountsTheOffersOfItsParty checks all turns of both parties in five rounds.
func TestACourseCountsTheOffersOfItsParty(t *testing.T) {
	type turn struct {
		step int
		time fixed.Number
		last bool
	}
	for self, turns := range [][]turn{
		{0: {0, 0, false}, 2: {1, fixed.One / 2, false}, 4: {2, fixed.One, true}, 5: {2, fixed.One, true}},
		{1: {0, 0, false}, 3: {1, fixed.One, false}, 5: {1, fixed.One, true}},
	} {
		played := new(puppet)
		c := bargain.NewCourse(played, cheapAndEarly(t, 0), self, 5, fixed.One/4, 9)
		require.Equal(t, []int{3, 2}[self], played.seat.Steps)
		require.Equal(t, bargain.NewRandom(9, uint64(self)), played.seat.Random)
		require.Equal(t, [3]int{self, 2, int(fixed.One / 4)},
			[3]int{played.seat.Self, played.seat.Parties, int(played.seat.Opening)})
		for round := range 6 {
			if round < len(turns) && (round%2 == self || round == 5) {
				c.Respond(7, 8)
				s := played.state
				require.Equal(t, turns[round], turn{s.Step, s.Time, s.Last}, "party %d, round %d", self, round)
				require.Equal(t, [2]uint64{7, 8}, [2]uint64{s.Least, s.Most})
				require.Len(t, s.History, round)
			}
			if round < 5 {
				c.Observe(bargain.Outcome(round))
			}
		}
		time := []fixed.Number{fixed.One / 2, fixed.One}[self]
		require.Equal(t, bargain.Offer{By: 1, Step: 1, Time: time, Outcome: 3}, played.state.History[3])
	}
}

// TestTheTimeOfASingleOfferIsTheEnd plays a single round for the buyer and none for the seller.
func TestTheTimeOfASingleOfferIsTheEnd(t *testing.T) {
	for self, steps := range []int{1, 0} {
		played := new(puppet)
		bargain.NewCourse(played, cheapAndEarly(t, 0), self, 1, 0, 1).Respond(0, math.MaxUint64)
		require.Equal(t, bargain.State{
			Steps: steps, Time: fixed.One, Offer: bargain.NoOutcome, By: -1, History: []bargain.Offer{},
			Most: math.MaxUint64, Last: true,
		}, played.state)
	}
}

// TestACourseMovesThePriceOnly offers an outcome of three days in different ranges of prices.
func TestACourseMovesThePriceOnly(t *testing.T) {
	p := cheapAndEarly(t, fixed.One/5)
	domain := p.Domain()
	outcome := func(price uint64) bargain.Outcome { return domain.Outcome(2, (price-100)/10) }
	moved := func(price uint64) bargain.Action {
		return bargain.Propose(outcome(price), "moved into the range of offers")
	}
	as := bargain.Propose(outcome(120), "as it is")
	for _, test := range []struct {
		least, most uint64
		want        bargain.Action
	}{
		{0, math.MaxUint64, as}, {120, 120, as}, {121, 200, moved(130)}, {0, 119, moved(110)}, {0, 100, moved(100)},
		{121, 129, bargain.End("no price is in the range of offers")},
		{201, 900, bargain.End("no price is in the range of offers")},
		{0, 99, bargain.End("no price is in the range of offers")},
		{160, 900, moved(160)}, {161, 900, bargain.End("the range of offers is beyond the reservation value")},
	} {
		c := bargain.NewCourse(&puppet{move: as}, p, 0, 5, 0, 1)
		require.Equal(t, test.want, c.Respond(test.least, test.most), "%d to %d", test.least, test.most)
	}
	for name, o := range map[string]bargain.Outcome{"irrational": outcome(170), "unknown": 33} {
		c := bargain.NewCourse(&puppet{move: bargain.Propose(o, "")}, p, 0, 5, 0, 1)
		want := bargain.End("the offer is below the reservation value")
		require.Equal(t, want, c.Respond(0, math.MaxUint64), name)
	}
}

// TestACourseAcceptsOnlyOffersThatStand checks the party's own offer, and an unknown, a standing and a
// withdrawn offer.
func TestACourseAcceptsOnlyOffersThatStand(t *testing.T) {
	played := &puppet{move: bargain.Accept("it is enough")}
	c := bargain.NewCourse(played, cheapAndEarly(t, 0), 0, 3, 0, 1)
	respond := func() bargain.Move { return c.Respond(0, math.MaxUint64).Move }
	require.Equal(t, bargain.MoveEnd, respond(), "there is none")
	c.Observe(4)
	require.Equal(t, bargain.MoveEnd, respond(), "its own")
	c.Observe(bargain.NoOutcome)
	require.Equal(t, bargain.MoveEnd, respond(), "an unknown one")
	require.Equal(t, []bargain.Offer{{Outcome: 4}}, played.state.History)
	c.Stand(5)
	require.Equal(t, bargain.MoveAccept, respond())
	require.Equal(t, 1, played.state.By)
	c.Stand(bargain.NoOutcome)
	require.Equal(t, bargain.MoveEnd, respond(), "withdrawn")
	c.Observe(6)
	played.move = bargain.Propose(7, "")
	require.Equal(t, bargain.End("no rounds are left"), c.Respond(0, math.MaxUint64))
}
