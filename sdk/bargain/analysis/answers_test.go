package analysis_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
)

// duel returns a record where the parties take turns. Party 1 makes every offer after party 0's offer with
// the same number.
func duel(first, second [][2]float64) (r analysis.Record) {
	for at := range max(len(first), len(second)) {
		for by, offers := range [][][2]float64{first, second} {
			if at < len(offers) {
				time := float64(at) / float64(max(len(offers)-1, 1))
				r.Offers = append(r.Offers, analysis.Offer{By: by, Time: time, Utilities: offers[at]})
			}
		}
	}
	return r
}

// TestStepsAndConcessionsByHand checks a party that takes every class of step, and a party that takes none.
// The first offers differ by 0.8 for both.
func TestStepsAndConcessionsByHand(t *testing.T) {
	same := [2]float64{.2, .8}
	r := duel([][2]float64{
		{1, 0}, {1, 0} /* silent */, {.8, .2} /* concession */, {.8, .3}, /* nice */
		{.9, .4} /* fortunate */, {.95, .4} /* selfish */, {.9, .3}, /* unfortunate */
	}, [][2]float64{same, same, same, same, same})
	a, err := analysis.Analyze(r)
	require.NoError(t, err)
	require.Equal(t, analysis.Steps{1, 1, 1, 1, 1, 1}, a.Parties[0].Steps)
	require.Equal(t, 7, a.Parties[0].Offers)
	require.InDelta(t, .5, a.Parties[0].Steps.Sensitivity(), 1e-12)
	require.Equal(t, analysis.Steps{analysis.Silent: 4}, a.Parties[1].Steps)
	// If there is no agreement the last offer counts: (1 - 0.9) / 0.8, over six steps.
	require.InDelta(t, .125, a.Parties[0].Conceded, 1e-12)
	require.InDelta(t, .125/6, a.Parties[0].Rate, 1e-12)
	require.Zero(t, a.Parties[1].Conceded)
	require.InDelta(t, .125, a.Imbalance, 1e-12)
	require.Equal(t, analysis.Nobody, a.Exploited, "without an agreement")

	// (1 - 0.4) / 0.8 and (0.8 - 0.7) / 0.8: party 0 made six sevenths of both concessions.
	r.Agreed, r.Agreement = true, [2]float64{.4, .7}
	a, err = analysis.Analyze(r)
	require.NoError(t, err)
	require.InDelta(t, .75, a.Parties[0].Conceded, 1e-12)
	require.InDelta(t, .125, a.Parties[0].Rate, 1e-12)
	require.InDelta(t, .125, a.Parties[1].Conceded, 1e-12)
	require.InDelta(t, .125/4, a.Parties[1].Rate, 1e-12)
	require.InDelta(t, .625, a.Imbalance, 1e-12)
	require.Equal(t, 0, a.Exploited)
}

// TestExploitedFromThreeQuartersOn divides a gap of 1.
func TestExploitedFromThreeQuartersOn(t *testing.T) {
	for conceded, want := range map[float64]int{
		1: 0, .75: 0, .74: analysis.Nobody, .5: analysis.Nobody, .26: analysis.Nobody, .25: 1, 0: 1,
		// A party that receives more than its demand has conceded nothing.
		-.5: 1, 1.5: 0,
	} {
		r := duel([][2]float64{{1, 0}}, [][2]float64{{0, 1}})
		r.Agreed, r.Agreement = true, [2]float64{1 - conceded, conceded}
		a, err := analysis.Analyze(r)
		require.NoError(t, err)
		require.Equal(t, want, a.Exploited, conceded)
		require.InDelta(t, 2*conceded-1, a.Imbalance, 1e-12)
	}
	// A gain of 2 does not make up for the opponent's concession.
	r := duel([][2]float64{{1, 0}}, [][2]float64{{0, 1}})
	r.Agreed, r.Agreement = true, [2]float64{3, .5}
	a, err := analysis.Analyze(r)
	require.NoError(t, err)
	require.Equal(t, 1, a.Exploited)
}

// against returns the fits for a party with the given utilities. Every offer follows an opponent's offer
// worth the number in gains to the party, or no offer if gains is nil.
func against(t *testing.T, own, gains, times []float64) []analysis.Fit {
	r := analysis.Record{}
	for at, u := range own {
		gain := 0.0
		if gains != nil {
			gain = gains[at]
		}
		r.Offers = append(r.Offers, analysis.Offer{By: 1, Utilities: [2]float64{gain, 1}},
			analysis.Offer{By: 0, Time: times[at], Utilities: [2]float64{u, 0}})
	}
	a, err := analysis.Analyze(r)
	require.NoError(t, err)
	return a.Parties[0].Fits
}

// TestFitsByHand checks offers on the curves a - b t^(1/e), and the least squares fit of tit-for-tat.
func TestFitsByHand(t *testing.T) {
	thirds := []float64{0, 1.0 / 3, 2.0 / 3, 1}
	for name, test := range map[string]struct {
		own, times []float64
		model      analysis.Model
		exponent   float64
	}{
		"0.9 - 0.9 t^2":   {[]float64{.9, .8, .5, 0}, thirds, analysis.Boulware, .5},
		"1 - 0.6 t":       {[]float64{1, .8, .6, .4}, thirds, analysis.Linear, 1},
		"0.9 - 0.6 t^0.5": {[]float64{.9, .7, .5, .3}, []float64{0, 1.0 / 9, 4.0 / 9, 1}, analysis.Conceder, 2},
	} {
		fits := against(t, test.own, nil, test.times)
		require.Equal(t, test.model, fits[0].Model, name)
		require.InDelta(t, test.exponent, fits[0].Exponent, 1e-6, name)
		require.InDelta(t, 1, fits[0].Goodness, 1e-9, name)
		// The opponent stands still, so tit-for-tat predicts no step: all three are errors, and with a single
		// parameter the goodness is 1 - 3/2.
		require.Equal(t, analysis.TitForTat, fits[1].Model)
		require.InDelta(t, -.5, fits[1].Goodness, 1e-9)
	}

	// The steps are -0.1 after gains of 0.1, 0.2 and 0.1: the ratio is (0.01 + 0.02 + 0.01) / (0.01 + 0.04 +
	// 0.01) = 2/3, each error 1/30, and the goodness 1 - (3/900) / 0.03 * 3/2 = 5/6.
	fits := against(t, []float64{.9, .8, .7, .6}, []float64{.1, .2, .4, .5}, thirds)
	require.Equal(t, analysis.Linear, fits[0].Model)
	require.InDelta(t, 2.0/3, fits[1].Ratio, 1e-9)
	require.InDelta(t, 5.0/6, fits[1].Goodness, 1e-9)

	// Demands that rise with each loss are tit-for-tat. A time dependent strategy never demands more: it
	// predicts no step, and with two parameters the goodness is 1 - 3/1.
	fits = against(t, []float64{.3, .4, .5, .6}, []float64{.5, .4, .3, .2}, thirds)
	require.Equal(t, analysis.TitForTat, fits[0].Model)
	require.InDelta(t, 1, fits[0].Ratio, 1e-9)
	require.InDelta(t, 1, fits[0].Goodness, 1e-9)
	require.InDelta(t, -2, fits[1].Goodness, 1e-9)
	// Concessions after losses are not: the ratio is not negative.
	fits = against(t, []float64{.6, .5, .4, .3}, []float64{.5, .4, .3, .2}, thirds)
	require.Equal(t, analysis.Linear, fits[0].Model)
	require.Zero(t, fits[1].Ratio)

	require.Equal(t, []analysis.Fit{{Model: analysis.Hardliner, Goodness: 1}},
		against(t, []float64{.6, .6, .6, .6}, nil, thirds))
	require.Equal(t, []analysis.Fit{{Model: analysis.Unknown}}, against(t, []float64{.6, .5, .4}, nil, thirds))
}

// TestNamesOfExponents checks exponents on both sides of the limits for linear.
func TestNamesOfExponents(t *testing.T) {
	for exponent, want := range map[float64]analysis.Model{
		.77: analysis.Boulware, .79: analysis.Linear, 1.27: analysis.Linear, 1.29: analysis.Conceder,
	} {
		var own, times []float64
		for at := range 10 {
			time := float64(at) / 9
			own, times = append(own, 1-math.Pow(time, 1/exponent)), append(times, time)
		}
		require.Equal(t, want, against(t, own, nil, times)[0].Model, exponent)
	}
}
