package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// buyer returns a buyer's seat over the prices 0 to 100, with the utility 1 - price/100.
func buyer(t *testing.T, reservation fixed.Number) bargain.Seat {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 100, 1))
	require.NoError(t, err)
	line, err := utility.PriceLine(domain, false)
	require.NoError(t, err)
	preferences, err := bargain.NewPreferences(domain, line, reservation)
	require.NoError(t, err)
	return bargain.Seat{Preferences: preferences, Parties: 2, Steps: 10}
}

// plan is a plan with a fixed next offer.
type plan bargain.Outcome

func (p plan) Next() bargain.Outcome { return bargain.Outcome(p) }

// TestNext checks AC_Next's condition, a * u(offer) + b >= u(own next offer). The party's next offer is the
// price 40 with utility .6.
func TestNext(t *testing.T) {
	const tenth = fixed.One / 10
	for _, test := range []struct {
		name        string
		next        acceptance.Next
		reservation fixed.Number
		dearest     bargain.Outcome
	}{
		{"a = 1 if not set: u >= .6", acceptance.Next{}, 0, 40},
		{"1.5 u >= .6: u >= .4", acceptance.Next{Alpha: 15 * tenth}, 0, 60},
		{"u + .1 >= .6: u >= .5", acceptance.Next{Beta: tenth}, 0, 50},
		{"1.5 u + .15 >= .6: u >= .3", acceptance.Next{Alpha: 15 * tenth, Beta: tenth / 2 * 3}, 0, 70},
		{"u >= .4, but not below the reservation value .5", acceptance.Next{Alpha: 15 * tenth}, tenth * 5, 50},
	} {
		acceptor := test.next.Acceptor(buyer(t, test.reservation))
		for price := range bargain.Outcome(101) {
			got := acceptor.Accepts(&bargain.State{Offer: price}, plan(40))
			require.Equal(t, price <= test.dearest, got, "%s: price %d", test.name, price)
		}
	}
	acceptor := acceptance.Next{}.Acceptor(buyer(t, fixed.One/2))
	require.True(t, acceptor.Accepts(&bargain.State{Offer: 50}, plan(bargain.NoOutcome)), "no next offer")
	require.False(t, acceptor.Accepts(&bargain.State{Offer: 51}, plan(bargain.NoOutcome)))
}

// TestALevelIsAPartOfTheRationalRange uses the reservation value .2: level .5 is utility .6.
func TestALevelIsAPartOfTheRationalRange(t *testing.T) {
	seat := buyer(t, fixed.One/5)
	for _, test := range []struct {
		condition acceptance.Const
		most      bargain.Outcome
	}{
		{acceptance.Const{Level: fixed.One / 2}, 40},
		{acceptance.Const{Level: fixed.One / 2, Utility: fixed.One / 10 * 7}, 30},
		{acceptance.Const{Utility: fixed.One / 10}, 80},
	} {
		a := test.condition.Acceptor(seat)
		require.True(t, a.Accepts(&bargain.State{Offer: test.most}, nil), "%+v", test)
		require.False(t, a.Accepts(&bargain.State{Offer: test.most + 1}, nil), "%+v", test)
	}
}

// TestAllNeedsBothConditions checks a buyer that accepts prices up to 50 in the second half of the time. It
// also checks Any, to tell the two apart.
func TestAllNeedsBothConditions(t *testing.T) {
	seat := buyer(t, 0)
	cheap := acceptance.Const{Utility: seat.Preferences.Of(50)}
	late := acceptance.Time{From: fixed.One / 2}
	all := acceptance.All{First: cheap, Second: late}.Acceptor(seat)
	either := acceptance.Any{First: cheap, Second: late}.Acceptor(seat)
	for _, test := range []struct {
		price    bargain.Outcome
		time     fixed.Number
		all, any bool
	}{
		{50, fixed.One / 2, true, true},
		{51, fixed.One / 2, false, true},
		{50, fixed.One/2 - 1, false, true},
		{51, fixed.One/2 - 1, false, false},
	} {
		state := &bargain.State{Steps: 10, Time: test.time, Offer: test.price, Most: 100}
		require.Equal(t, test.all, all.Accepts(state, nil), "all: price %d at %v", test.price, test.time)
		require.Equal(t, test.any, either.Accepts(state, nil), "any: price %d at %v", test.price, test.time)
		switch {
		case test.price == 50:
			require.Equal(t, "ACconst: at least the constant utility", either.Reason())
		case test.any:
			require.Equal(t, "ACtime: at least the reservation value, and late enough", either.Reason())
		}
	}
	require.Equal(t, "both conditions hold", all.Reason())
}

// offering is a plan with a next offer.
type offering bargain.Outcome

func (o offering) Next() bargain.Outcome { return bargain.Outcome(o) }

// TestConditionsGiveTheirReasons checks a buyer at time .9 with the price 10 as next offer. The seller has
// offered 80, 60 and 70.
func TestConditionsGiveTheirReasons(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 100, 1))
	require.NoError(t, err)
	line, err := utility.PriceLine(domain, false)
	require.NoError(t, err)
	preferences, err := bargain.NewPreferences(domain, line, 0)
	require.NoError(t, err)
	seat := bargain.Seat{Preferences: preferences, Parties: 2, Steps: 10}
	state := &bargain.State{Steps: 10, Time: fixed.One / 10 * 9, Most: 100}
	for _, price := range []bargain.Outcome{80, 60, 70} {
		state.History = append(state.History, bargain.Offer{By: 1, Time: fixed.One / 10 * 9, Outcome: price})
	}
	combi := func(e acceptance.Expectation) bargain.Acceptance {
		return acceptance.Combi{From: fixed.One / 2, Expectation: e}
	}
	for _, test := range []struct {
		condition bargain.Acceptance
		price     bargain.Outcome
		next      bargain.Outcome
		want      string
	}{
		{acceptance.Next{}, 10, 10, "ACnext: at least as good as the next offer"},
		{acceptance.Next{}, 90, bargain.NoOutcome,
			"ACnext: at least the reservation value, and there is no next offer"},
		{acceptance.Rational{}, 90, 10, "at least the reservation value"},
		{acceptance.Best{}, 0, 0, "as good as the best outcome"},
		{combi(acceptance.ExpectMax), 10, 10, "ACnext: at least as good as the next offer"},
		{combi(acceptance.ExpectMax), 60, 10, "ACcombi: at least the best offer of the last window"},
		{combi(acceptance.ExpectAvg), 70, 10, "ACcombi: at least the average of the last window"},
		{combi(acceptance.ExpectProb), 60, 10, "ACcombi: at least the expectation of a better offer"},
		{combi(acceptance.ExpectNothing), 90, 10, "ACcombi: at least the reservation value, near the deadline"},
	} {
		a := test.condition.Acceptor(seat)
		state.Offer, state.By = test.price, 1
		require.True(t, a.Accepts(state, offering(test.next)), "%+v", test)
		require.Equal(t, test.want, a.Reason())
	}
}

// TestNoConditionAllocates uses a rational offer at a time when all conditions compare it with the window.
func TestNoConditionAllocates(t *testing.T) {
	seat := buyer(t, 0)
	state := &bargain.State{Steps: 10, Time: fixed.One / 4 * 3, Offer: 90, By: 1}
	for range 8 {
		state.History = append(state.History, bargain.Offer{By: 1, Time: fixed.One / 4 * 3, Outcome: 80})
	}
	const half = fixed.One / 2
	for _, condition := range []bargain.Acceptance{
		acceptance.Const{Utility: half}, acceptance.Next{Alpha: half, Beta: half / 10}, acceptance.Time{From: half},
		acceptance.Rational{}, acceptance.Better{}, acceptance.NotWorse{}, acceptance.Best{},
		acceptance.Combi{From: half}, acceptance.Combi{From: half, Expectation: acceptance.ExpectMax},
		acceptance.Combi{From: half, Expectation: acceptance.ExpectAvg},
		acceptance.Combi{From: half, Expectation: acceptance.ExpectProb},
		acceptance.Any{First: acceptance.Best{}, Second: acceptance.Const{Utility: half}},
		acceptance.All{First: acceptance.Rational{}, Second: acceptance.Const{Utility: half}},
	} {
		acceptor := condition.Acceptor(seat)
		var next bargain.Plan = plan(0)
		require.Zero(t, testing.AllocsPerRun(10, func() { acceptor.Accepts(state, next) }), "%#v", condition)
	}
}
