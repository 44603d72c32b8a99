package bidding_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// buyer returns a buyer's seat over the prices 0 to 200.
func buyer(t require.TestingT, reservation fixed.Number) bargain.Seat {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 200, 1))
	require.NoError(t, err)
	u, err := utility.PriceLine(domain, false)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, u, reservation)
	require.NoError(t, err)
	return bargain.Seat{Preferences: p, Parties: 2, Steps: 10, Random: bargain.NewRandom(1, 0)}
}

// state returns the negotiation state after alternating offers; party 0 made the first.
func state(offers ...bargain.Outcome) *bargain.State {
	s := &bargain.State{Step: len(offers) / 2, Steps: 10, Time: fixed.Ratio(int64(len(offers)/2), 10), Most: 200}
	for i, o := range offers {
		s.History = append(s.History, bargain.Offer{By: i % 2, Step: i / 2, Outcome: o})
		s.Offer, s.By = o, i%2
	}
	return s
}

// TestTitForTat checks Faratin's formulas, computed by hand. The seller offers 100, 90 and 81; the buyer's
// last offer is 50.
func TestTitForTat(t *testing.T) {
	s := state(40, 100, 45, 90, 50, 81)
	for _, test := range []struct {
		name    string
		bidding bargain.Bidding
		want    bargain.Outcome
	}{
		{"relative: 50 * 90/81 = 55.6", bidding.Relative{}, 55},
		{"relative, delay 2: 50 * 100/90 = 55.6", bidding.Relative{Delay: 2}, 55},
		{"relative, delay 3: too few offers", bidding.Relative{Delay: 3}, 50},
		{"absolute: 50 + 90 - 81", bidding.RandomAbsolute{}, 59},
		{"absolute, delay 2: 50 + 100 - 90", bidding.RandomAbsolute{Delay: 2}, 60},
		{"averaged over 2: 50 * 100/81 = 61.7", bidding.Averaged{Window: 2}, 61},
		{"averaged over 1 is relative", bidding.Averaged{}, 55},
	} {
		require.Equal(t, test.want, test.bidding.Bidder(buyer(t, 0), nil).Next(s), test.name)
	}
	random := bidding.RandomAbsolute{Most: 3}.Bidder(buyer(t, 0), nil)
	seen := map[bargain.Outcome]bool{}
	for range 100 {
		seen[random.Next(s)] = true
	}
	require.Equal(t, map[bargain.Outcome]bool{59: true, 60: true, 61: true, 62: true}, seen)
	// A hundredth of 201 values is 2.
	random = bidding.RandomAbsolute{Share: fixed.One / 100}.Bidder(buyer(t, 0), nil)
	clear(seen)
	for range 100 {
		seen[random.Next(s)] = true
	}
	require.Equal(t, map[bargain.Outcome]bool{59: true, 60: true, 61: true}, seen)
	// The reservation value .75 is the price 50.
	require.Equal(t, bargain.Outcome(50), bidding.Relative{}.Bidder(buyer(t, fixed.One/4*3), nil).Next(s))
	require.Equal(t, bargain.Outcome(0), bidding.Relative{}.Bidder(buyer(t, 0), nil).Next(state()))
}

// TestTitForTatOfASeller uses the buyer's offers 100, 110 and 121, and the seller's last offer 150. Lower
// prices favor the opponent.
func TestTitForTatOfASeller(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 200, 1))
	require.NoError(t, err)
	u, err := utility.PriceLine(domain, true)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, u, 0)
	require.NoError(t, err)
	seat := bargain.Seat{Preferences: p, Parties: 2, Steps: 10, Random: bargain.NewRandom(1, 0)}
	s := state(190, 100, 170, 110, 150, 121)
	for _, test := range []struct {
		name    string
		bidding bargain.Bidding
		want    []bargain.Outcome
	}{
		{"relative: 150 * 110/121 = 136.4", bidding.Relative{}, []bargain.Outcome{136}},
		{"averaged over 2: 150 * 100/121 = 124.0", bidding.Averaged{Window: 2}, []bargain.Outcome{123}},
		{"averaged over 3: too few offers", bidding.Averaged{Window: 3}, []bargain.Outcome{150}},
		{"absolute: 150 + 110 - 121 = 139, less 0 to 2", bidding.RandomAbsolute{Most: 2},
			[]bargain.Outcome{137, 138, 139}},
		{"absolute, delay 2: 150 + 100 - 110 = 140, less 0 to 2", bidding.RandomAbsolute{Delay: 2, Most: 2},
			[]bargain.Outcome{138, 139, 140}},
		{"absolute, delay 3: too few offers", bidding.RandomAbsolute{Delay: 3, Most: 2}, []bargain.Outcome{150}},
	} {
		bidder := test.bidding.Bidder(seat, nil)
		seen := map[bargain.Outcome]bool{}
		for range 100 {
			seen[bidder.Next(s)] = true
		}
		require.ElementsMatch(t, test.want, slices.Collect(maps.Keys(seen)), test.name)
	}
}

// TestTitForTatImitatesIssueByIssue uses ordered names with amounts 1 to 5, integers including negatives with
// amounts 1 to 9, and unordered names. The party's last offer is e, 4, y; the opponent's are a, -4, x and b,
// -2, y.
func TestTitForTatImitatesIssueByIssue(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Ordered("quality", "a", "b", "c", "d", "e"),
		bargain.Integer("number", -4, 4), bargain.Categorical("colour", "x", "y"))
	require.NoError(t, err)
	u, err := utility.NewAdditive(domain, 0, nil, utility.Line{Last: fixed.One, Count: 5},
		utility.Line{Last: fixed.One, Count: 9}, utility.Table{fixed.One, 0})
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, u, 0)
	require.NoError(t, err)
	seat := bargain.Seat{Preferences: p, Parties: 2, Steps: 10, Random: bargain.NewRandom(1, 0)}
	s := state(domain.Outcome(4, 8, 1), domain.Outcome(0, 0, 0), domain.Outcome(4, 8, 1),
		domain.Outcome(1, 2, 1))
	relative := bidding.Relative{}.Bidder(seat, nil).Next(s)
	require.Equal(t, domain.Outcome(1, 2, 1), relative, "5 * 1/2 = 2.5: b; 9 * 1/3 = 3: -2")
	absolute := bidding.RandomAbsolute{}.Bidder(seat, nil).Next(s)
	require.Equal(t, domain.Outcome(3, 6, 1), absolute, "5 + 1 - 2 = 4: d; 9 + 1 - 3 = 7: 2")
	random := bidding.RandomAbsolute{Most: 9}.Bidder(seat, nil)
	s.History[2].Outcome = domain.Outcome(4, 8, 0)
	for range 100 {
		o := random.Next(s)
		require.LessOrEqual(t, domain.Value(o, 0), uint64(3), "the other party's favour is down")
		require.Zero(t, domain.Value(o, 2), "names without an order stay, also in the other party's favour")
	}
}

func TestResourcesRunOut(t *testing.T) {
	r := bidding.ResourceDependent{}.Bidder(buyer(t, 0), nil)
	// Of ten steps nine are left: 200 e^-9 = .02; in the last step none is left.
	require.Equal(t, bargain.Outcome(0), r.Next(&bargain.State{Steps: 10}))
	require.Equal(t, bargain.Outcome(73), r.Next(&bargain.State{Step: 8, Steps: 10}), "200/e = 73.6")
	require.Equal(t, bargain.Outcome(200), r.Next(&bargain.State{Step: 9, Steps: 10}))
	p := bidding.ResourceDependent{Resource: bidding.ResourcePatience}.Bidder(buyer(t, 0), nil)
	require.Equal(t, bargain.Outcome(121), p.Next(state(1, 2)), "200 e^-.5 = 121.3")
	require.Equal(t, bargain.Outcome(73), p.Next(state()), "200 e^-1 = 73.6, as with one offer")
}

// TestPatienceFallsWithTheOffers uses three parties: the resource is 2^2 divided by the number of offers,
// here 4/8, in units of 1/4. The concession is .1 + .9 e^-2 = .221802, of 200.
func TestPatienceFallsWithTheOffers(t *testing.T) {
	seat := buyer(t, 0)
	seat.Parties = 3
	patience := bidding.ResourceDependent{
		K: fixed.One / 10, Resource: bidding.ResourcePatience, Unit: fixed.One / 4,
	}.Bidder(seat, nil)
	require.Equal(t, bargain.Outcome(44), patience.Next(state(1, 2, 3, 4, 5, 6, 7, 8)))
	// With 16 offers it is .1 + .9 e^-1 = .431091.
	require.Equal(t, bargain.Outcome(86), patience.Next(state(1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8)))
}

// TestPatienceConcedesFromTheOpening opens with the price 100 of 200.
func TestPatienceConcedesFromTheOpening(t *testing.T) {
	opening := buyer(t, 0)
	opening.Opening = fixed.One / 2
	p := bidding.ResourceDependent{Resource: bidding.ResourcePatience}.Bidder(opening, nil)
	require.Equal(t, bargain.Outcome(160), p.Next(state(1, 2)), "100 + 100 e^-.5 = 160.7")
}

func TestHybridFollowsItsCurveFirst(t *testing.T) {
	h := bidding.Hybrid{}.Bidder(buyer(t, 0), nil)
	// With one offer, at t = .1: .81 + .18*.75 + .01*.8 = .953: the price 9.4.
	s := state(0, 150)
	require.Equal(t, bargain.Outcome(9), h.Next(s))
	// Three offers received that concede .05 twice: u = .25, .3, .35; B = .95 - .5 (1+t) .05 with t = .3.
	s = state(5, 150, 8, 140, 10, 130)
	// T = .49 + .42*.75 + .09*.8 = .877; B = .9175; .09 T + .91 B = .913855: the price 17.2.
	require.Equal(t, bargain.Outcome(17), h.Next(s))
}

// TestHybridWeighsTheLastConcessions uses the prices 0 to 1000 with the utility 1 - price/1000, the party's
// last offer 100 with .9, and t = .4. T = .36 + .48 * .75 + .16 * .775 = .844, because the domain has 1,001
// outcomes. With the weighted concessions c, B = .9 - .5 * 1.4 c, and the target is .16 T + .84 B.
func TestHybridWeighsTheLastConcessions(t *testing.T) {
	for _, test := range []struct {
		name     string
		received []bargain.Outcome
		want     bargain.Outcome
	}{
		{"T alone", []bargain.Outcome{900, 800}, 156},
		{"c = .25 * .1 + .75 * .2 = .175: .788140", []bargain.Outcome{900, 800, 600}, 212},
		{"c = .11 * .1 + .22 * .2 + .66 * .1 = .121: .819892", []bargain.Outcome{900, 800, 600, 500}, 180},
		{"c = .05 * .1 + .15 * .2 + .3 * .1 + .5 * .05 = .09: .838120",
			[]bargain.Outcome{900, 800, 600, 500, 450}, 162},
		{"c = .05 * .2 + .15 * .1 + .3 * .05 + .5 * .01 = .045: .864580",
			[]bargain.Outcome{900, 800, 600, 500, 450, 440}, 135},
	} {
		s := received(fixed.One/10*4, test.received...)
		s.History = append(s.History, bargain.Offer{By: 0, Outcome: 100})
		o := bidding.Hybrid{}.Bidder(scale{1000, 1, fixed.One, 0, 0, 0}.seat(t), nil).Next(s)
		require.Equal(t, test.want, o, test.name)
	}
}

// TestHybridKeepsToTheReservationValue uses TestHybridWeighsTheLastConcessions with c = .25 * 0 + .75 * 1, so
// the target is .16 * .844 + .84 (.9 - .7 * .75) = .45. The reservation value .6 is the price 400.
func TestHybridKeepsToTheReservationValue(t *testing.T) {
	s := received(fixed.One/10*4, 1000, 1000, 0)
	s.History = append(s.History, bargain.Offer{By: 0, Outcome: 100})
	for reservation, want := range map[fixed.Number]bargain.Outcome{0: 550, fixed.One / 5 * 3: 400} {
		seat := scale{1000, 1, fixed.One, 0, reservation, 0}.seat(t)
		require.Equal(t, want, bidding.Hybrid{}.Bidder(seat, nil).Next(s), "%s", reservation)
	}
}

// TestHybridEndsByTheSizeOfTheDomain checks NegMAS' table of final utilities.
func TestHybridEndsByTheSizeOfTheDomain(t *testing.T) {
	for outcomes, thousandths := range map[uint64]int64{
		449: 800, 450: 775, 1_499: 775, 1_500: 750, 4_499: 750, 4_500: 725, 17_999: 725, 18_000: 700,
		32_999: 700, 33_000: 675, 1_000_000: 675,
	} {
		seat := scale{outcomes - 1, 1, fixed.One, 0, 0, 0}.seat(t)
		u := seat.Preferences.Of(bidding.Hybrid{}.Bidder(seat, nil).Next(&bargain.State{Time: fixed.One}))
		require.InDelta(t, float64(thousandths)/1000, u.Float(), .5/float64(outcomes-1)+1e-9, "%d", outcomes)
	}
}

// TestRandomOffersFromALevelOn uses the reservation value .2 and the level .5: the target is .2 + .5 * .8 =
// .6, the price 80 of 200.
func TestRandomOffersFromALevelOn(t *testing.T) {
	for _, test := range []struct {
		level fixed.Number
		most  bargain.Outcome
	}{{fixed.One / 2, 80}, {0, 160}, {fixed.One, 0}} {
		random := bidding.Random{Level: test.level}.Bidder(buyer(t, fixed.One/5), nil)
		counts := make([]int, 201)
		for range 40_000 {
			counts[random.Next(state())]++
		}
		for price, count := range counts {
			mean := 40_000 / (int(test.most) + 1)
			if bargain.Outcome(price) > test.most {
				mean = 0
			}
			require.InDelta(t, mean, count, float64(mean)/2, "level %s: price %d", test.level, price)
		}
	}
}

// TestPickModel uses the target .5 and a band of .05 above the target: the prices 90 to 100 of 200. With the
// reservation value .5 the target is .75, and the band .025: 45 to 50.
func TestPickModel(t *testing.T) {
	time := bidding.TimeDependent{Curve: curve.Constant(fixed.One / 2), Pick: bidding.PickModel}
	dear := model(func(o bargain.Outcome) fixed.Number { return fixed.Number(o) })
	cheap := model(func(o bargain.Outcome) fixed.Number { return -fixed.Number(o) })
	equal := model(func(bargain.Outcome) fixed.Number { return 0 })
	for _, test := range []struct {
		name        string
		model       bargain.Model
		reservation fixed.Number
		want        bargain.Outcome
	}{
		{"it prefers dear ones", dear, 0, 100}, {"it prefers cheap ones", cheap, 0, 90},
		{"it prefers none: the lowest number", equal, 0, 90}, {"no model: the lowest utility", nil, 0, 100},
		{"dear ones of the smaller band", dear, fixed.One / 2, 50},
		{"cheap ones of the smaller band", cheap, fixed.One / 2, 45},
	} {
		bidder := time.Bidder(buyer(t, test.reservation), test.model)
		require.Equal(t, test.want, bidder.Next(&bargain.State{Time: fixed.One / 2}), test.name)
	}
}

func TestMixturesWeighTheirParts(t *testing.T) {
	hard := bidding.Hardliner{}
	soft := bidding.TimeDependent{Curve: curve.Constant(0)}
	mixed := bidding.Mixture{{Bidding: hard, Weight: 3}, {Bidding: soft, Weight: 1}}.Bidder(buyer(t, 0), nil)
	require.Equal(t, bargain.Outcome(50), mixed.Next(state()))
	switched := bidding.Switch{Before: hard, After: soft, At: fixed.One / 2}.Bidder(buyer(t, 0), nil)
	require.Equal(t, bargain.Outcome(0), switched.Next(&bargain.State{Time: fixed.One/2 - 1}))
	require.Equal(t, bargain.Outcome(200), switched.Next(&bargain.State{Time: fixed.One / 2}))
}

func TestWastingOffersTheIrrationalOutcomesFirst(t *testing.T) {
	s := buyer(t, fixed.One/200*198) // the prices 0 to 2 are rational
	w := bidding.Wasting{}.Bidder(s, nil)
	for n := range 202 {
		o := w.Next(state())
		w.Sent(o)
		switch {
		case n < 198:
			require.Equal(t, bargain.Outcome(200-n), o)
		default:
			require.Equal(t, bargain.Outcome(min(n-198, 2)), o)
		}
	}
}

// TestWastingFollowsTheNumbersOfOutcomes uses a seller, because NegMAS does not follow the utility order
// there.
func TestWastingFollowsTheNumbersOfOutcomes(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 4, 1))
	require.NoError(t, err)
	u, err := utility.PriceLine(domain, true)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, u, fixed.One/4*3) // the prices 3 and 4 are rational
	require.NoError(t, err)
	w := bidding.Wasting{}.Bidder(bargain.Seat{Preferences: p, Parties: 2, Steps: 10}, nil)
	for _, want := range []bargain.Outcome{2, 1, 0, 4, 3, 3} {
		require.Equal(t, want, w.Next(state()))
		w.Sent(want)
	}
}

// TestWastingBeginsWithTheWorstOfManyOutcomes uses more outcomes than a single turn can search.
func TestWastingBeginsWithTheWorstOfManyOutcomes(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 1<<63, 1))
	require.NoError(t, err)
	u, err := utility.PriceLine(domain, true)
	require.NoError(t, err)
	p, err := bargain.NewPreferences(domain, u, fixed.One/2)
	require.NoError(t, err)
	w := bidding.Wasting{}.Bidder(bargain.Seat{Preferences: p, Parties: 2, Steps: 10}, nil)
	for _, want := range []bargain.Outcome{0, 1, 2} {
		require.Equal(t, want, w.Next(state()))
		w.Sent(want)
	}
}
