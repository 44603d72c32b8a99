package mechanism_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// prices returns buyer and seller preferences over the prices 0 to 100.
func prices(t testing.TB, buyerReservation, sellerReservation fixed.Number) (buyer, seller *bargain.Preferences) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 100, 1))
	require.NoError(t, err)
	for _, side := range []struct {
		seller      bool
		reservation fixed.Number
		p           **bargain.Preferences
	}{{false, buyerReservation, &buyer}, {true, sellerReservation, &seller}} {
		u, err := utility.PriceLine(domain, side.seller)
		require.NoError(t, err)
		*side.p, err = bargain.NewPreferences(domain, u, side.reservation)
		require.NoError(t, err)
	}
	return buyer, seller
}

func TestTimeDependentOffersFollowTheirCurves(t *testing.T) {
	buyer, seller := prices(t, 0, 0)
	for _, test := range []struct {
		name string
		boa  bargain.BOA
		// want lists the seller's prices at t = 1/4, 2/4, 3/4 with three steps.
		want []bargain.Outcome
	}{
		{"NegMAS Boulware, 1-t^4: .99609, .9375, .68359", strategy.NegmasBoulware(), []bargain.Outcome{100, 94, 69}},
		{"NegMAS linear", strategy.NegmasLinear(), []bargain.Outcome{75, 50, 25}},
		{"NegMAS Conceder, 1-t^.25: .29289, .15910, .06940", strategy.NegmasConceder(), []bargain.Outcome{30, 16, 7}},
		{"GENIUS Boulware, 1-t^5: .99902, .96875, .76270", strategy.GeniusBoulware(), []bargain.Outcome{100, 97, 76}},
		{"GENIUS Conceder, 1-t^.5: .5, .29289, .13397", strategy.GeniusConceder(), []bargain.Outcome{50, 29, 13}},
	} {
		result, err := mechanism.Alternating{Steps: 3}.Run(1,
			mechanism.Party{Strategy: test.boa, Preferences: seller},
			mechanism.Party{Strategy: strategy.Hardliner(), Preferences: buyer})
		require.NoError(t, err)
		require.Equal(t, bargain.EndingDeadline, result.Ending, test.name)
		var got []bargain.Outcome
		for _, offer := range result.History {
			if offer.By == 0 {
				got = append(got, offer.Outcome)
			}
		}
		require.Equal(t, test.want, got, test.name)
	}
}

func TestPartiesAgreeWhereTheirCurvesMeet(t *testing.T) {
	buyer, seller := prices(t, fixed.One/5, fixed.One/5)
	result, err := mechanism.Alternating{Steps: 99}.Run(1,
		mechanism.Party{Strategy: strategy.NegmasLinear(), Preferences: buyer},
		mechanism.Party{Strategy: strategy.NegmasLinear(), Preferences: seller})
	require.NoError(t, err)
	require.Equal(t, bargain.EndingAgreement, result.Ending)
	// Both concede from 1 to .2: .5 at t = .625. The seller is second, and accepts .5 or less at step 62.
	require.Equal(t, bargain.Outcome(50), result.Agreement)
	require.Equal(t, 1, result.By)
	require.Equal(t, 62, result.Step)
}

func TestSessionsEndAsTheProtocolSays(t *testing.T) {
	buyer, seller := prices(t, 0, 0)
	none, _ := prices(t, 2*fixed.One, 0)
	party := func(s bargain.Strategy, p *bargain.Preferences) mechanism.Party {
		return mechanism.Party{Strategy: s, Preferences: p, Pace: 1}
	}
	result, err := mechanism.Alternating{Steps: 5}.Run(1, party(strategy.CAR(), buyer), party(strategy.CAR(), seller))
	require.NoError(t, err)
	require.Equal(t, bargain.Outcome(0), result.Agreement, "the second party accepts the first rational offer")

	_, err = mechanism.Alternating{Steps: 5}.Run(1, party(strategy.CAR(), none), party(strategy.CAR(), seller))
	require.ErrorIs(t, err, mechanism.ErrConfig, "another domain")
	_, err = mechanism.Alternating{}.Run(1, party(strategy.CAR(), buyer), party(strategy.CAR(), seller))
	require.ErrorIs(t, err, mechanism.ErrConfig, "no deadline")
	_, err = mechanism.Alternating{Steps: 1}.Run(1, party(strategy.CAR(), buyer))
	require.ErrorIs(t, err, mechanism.ErrConfig, "one party")

	tough := party(strategy.Hardliner(), seller)
	result, err = mechanism.Alternating{Limit: 7}.Run(1, party(strategy.Hardliner(), buyer), tough)
	require.NoError(t, err)
	require.Equal(t, bargain.EndingDeadline, result.Ending)
	require.Len(t, result.History, 7)
	require.Equal(t, fixed.Ratio(6, 7), result.History[6].Time)

	for _, invalid := range []bargain.Action{
		bargain.Propose(101, ""), bargain.Accept(""), {Move: 7},
	} {
		result, err = mechanism.Alternating{Steps: 5}.Run(1, party(scripted(invalid), buyer), tough)
		require.NoError(t, err)
		require.Equal(t, bargain.EndingInvalid, result.Ending)
		require.ErrorIs(t, result.Err, mechanism.ErrMove)
		require.Equal(t, bargain.NoOutcome, result.Agreement)
	}
	result, err = mechanism.Alternating{Steps: 5}.Run(1, party(scripted(bargain.End("")), buyer), tough)
	require.NoError(t, err)
	require.Equal(t, bargain.EndingLeft, result.Ending)
}

func TestAnAgreementNeedsAllParties(t *testing.T) {
	buyer, seller := prices(t, 0, fixed.One/2)
	offers := mechanism.Party{Strategy: scripted(bargain.Propose(40, "")), Preferences: buyer}
	accepts := mechanism.Party{Strategy: strategy.CAR(), Preferences: buyer}
	refuses := mechanism.Party{Strategy: strategy.Hardliner(), Preferences: seller}
	result, err := mechanism.Alternating{Steps: 3}.Run(1, offers, accepts, accepts)
	require.NoError(t, err)
	require.Equal(t, bargain.Outcome(40), result.Agreement)
	require.Equal(t, 2, result.By)
	result, err = mechanism.Alternating{Steps: 3}.Run(1, offers, accepts, refuses)
	require.NoError(t, err)
	require.Equal(t, bargain.EndingDeadline, result.Ending)
}

// scripted makes the same move at every turn.
type scripted bargain.Action

func (s scripted) Start(bargain.Seat) bargain.Negotiator { return s }

func (s scripted) Respond(*bargain.State) bargain.Action { return bargain.Action(s) }

// TestResultsKeepTheirHistory runs two sessions in sequence: the second reuses the first session's memory,
// but not the result.
func TestResultsKeepTheirHistory(t *testing.T) {
	protocol, parties := longSession(t)
	first, err := protocol.Run(1, parties...)
	require.NoError(t, err)
	want := slices.Clone(first.History)
	_, err = protocol.Run(1, parties[1], parties[0])
	require.NoError(t, err)
	require.Equal(t, want, first.History)
	require.Equal(t, 0, first.History[0].By)
}

// TestALimitOfTimeEndsASessionBetweenSteps requires the last turn's time as the session's time.
func TestALimitOfTimeEndsASessionBetweenSteps(t *testing.T) {
	_, parties := longSession(t)
	for self := range parties {
		parties[self].Pace = 5
	}
	result, err := mechanism.Alternating{Limit: 10}.Run(1, parties...)
	require.NoError(t, err)
	require.Equal(t, bargain.EndingDeadline, result.Ending)
	require.Equal(t, 1, result.Step)
	require.Equal(t, fixed.One/2, result.Time)
	require.Len(t, result.History, 2)
	require.Equal(t, fixed.One/2, result.History[1].Time)
}

// observing is a strategy that makes the same offer at each turn and keeps the times.
type observing struct {
	times *[]fixed.Number
	last  *[]bool
}

func (o observing) Start(bargain.Seat) bargain.Negotiator { return o }

func (o observing) Respond(state *bargain.State) bargain.Action {
	*o.times, *o.last = append(*o.times, state.Time), append(*o.last, state.Last)
	return bargain.Propose(0, "")
}

// TestLimitsOfStepsAndTimeTogether uses turns taking 1 and 3 time units, so the turns in three steps begin
// after 0, 1, 4, 5, 8 and 9 units. A turn's relative time is the higher value under both limits.
func TestLimitsOfStepsAndTimeTogether(t *testing.T) {
	buyer, seller := prices(t, 0, 0)
	for _, test := range []struct {
		name  string
		limit int64
		// times are in parts of 60.
		times   []int64
		last    []bool
		step    int
		endTime int64
	}{
		{"the steps end first", 10, []int64{15, 15, 30, 30, 48, 54},
			[]bool{false, false, false, false, true, true}, 3, 60},
		{"the time ends between the steps", 6, []int64{15, 15, 40, 50}, []bool{false, false, true, true}, 2, 50},
		{"the time ends in a step", 5, []int64{15, 15, 48}, []bool{false, true, true}, 1, 48},
		{"the time is long", 20, []int64{15, 15, 30, 30, 45, 45},
			[]bool{false, false, false, false, true, true}, 3, 60},
	} {
		t.Run(test.name, func(t *testing.T) {
			var times []fixed.Number
			var last []bool
			party := observing{&times, &last}
			result, err := mechanism.Alternating{Steps: 3, Limit: test.limit}.Run(1,
				mechanism.Party{Strategy: party, Preferences: buyer, Pace: 1},
				mechanism.Party{Strategy: party, Preferences: seller, Pace: 3})
			require.NoError(t, err)
			var want []fixed.Number
			for _, time := range test.times {
				want = append(want, fixed.Ratio(time, 60))
			}
			require.Equal(t, want, times)
			require.Equal(t, test.last, last)
			require.Equal(t, bargain.EndingDeadline, result.Ending)
			require.Equal(t, test.step, result.Step)
			require.Equal(t, fixed.Ratio(test.endTime, 60), result.Time)
		})
	}
}
