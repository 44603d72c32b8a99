package analysis_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// TestStepClasses checks the definitions by Hindriks, Jonker and Tykhonov (2011): every pair of signs belongs
// to exactly one class.
func TestStepClasses(t *testing.T) {
	for signs, want := range map[[2]float64]analysis.Step{
		{0, 0}: analysis.Silent, {-1, 0}: analysis.Concession, {-1, 1}: analysis.Concession,
		{0, 1}: analysis.Nice, {1, 1}: analysis.Fortunate, {1, 0}: analysis.Selfish,
		{1, -1}: analysis.Selfish, {0, -1}: analysis.Unfortunate, {-1, -1}: analysis.Unfortunate,
	} {
		require.Equal(t, want, analysis.StepOf(signs[0], signs[1]), signs)
	}
	steps := analysis.Steps{analysis.Silent: 1, analysis.Nice: 1, analysis.Concession: 2}
	require.InDelta(t, .75, steps.Sensitivity(), 1e-9)
	require.Zero(t, analysis.Steps{}.Sensitivity())
}

// TestParametersAreRecovered fits offers that are made by the models themselves.
func TestParametersAreRecovered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := math.Exp(rapid.Float64Range(-2, 2).Draw(t, "log e"))
		ratio := rapid.Float64Range(.2, 1.5).Draw(t, "ratio")
		count := rapid.IntRange(6, 40).Draw(t, "offers")
		r := analysis.Record{}
		echo, before := 1.0, 0.0
		for at := range count {
			time := float64(at) / float64(count-1)
			demand := .9 - .5*math.Pow(time, 1/e)
			if at > 0 {
				echo -= ratio * (before - demand)
			}
			before = demand
			r.Offers = append(r.Offers,
				analysis.Offer{By: 0, Time: time, Utilities: [2]float64{demand, 1 - demand}},
				analysis.Offer{By: 1, Time: time, Utilities: [2]float64{1 - echo, echo}})
		}
		a, err := analysis.Analyze(r)
		require.NoError(t, err)
		fit := a.Parties[0].Fits[0]
		if fit.Model != analysis.TitForTat {
			// (Both parties then look alike: their steps are in a fixed ratio.)
			require.InEpsilon(t, e, fit.Exponent, .01)
			require.Greater(t, fit.Goodness, .999)
		}
		fit = a.Parties[1].Fits[0]
		if fit.Model != analysis.TitForTat {
			fit = a.Parties[1].Fits[1]
		}
		require.InEpsilon(t, ratio, fit.Ratio, 1e-6)
		require.InDelta(t, 1, fit.Goodness, 1e-9)
	})
}

func session(t *testing.T, steps int, buyer, seller bargain.Strategy) analysis.Analysis {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 1_000_000, 1))
	require.NoError(t, err)
	var parties [2]*bargain.Preferences
	for side := range parties {
		u, err := utility.PriceLine(domain, side == 1)
		require.NoError(t, err)
		parties[side], err = bargain.NewPreferences(domain, u, 0)
		require.NoError(t, err)
	}
	result, err := mechanism.Alternating{Steps: steps}.Run(1,
		mechanism.Party{Strategy: buyer, Preferences: parties[0]},
		mechanism.Party{Strategy: seller, Preferences: parties[1]})
	require.NoError(t, err)
	a, err := analysis.Analyze(analysis.FromResult(result, parties))
	require.NoError(t, err)
	return a
}

// TestStrategiesAreRecognized analyses sessions of the engine's own strategies.
func TestStrategiesAreRecognized(t *testing.T) {
	absolute := bargain.BOA{Bidding: bidding.RandomAbsolute{}, Acceptance: acceptance.Next{}}
	for name, test := range map[string]struct {
		strategy, other bargain.Strategy
		want            analysis.Model
		exponent        float64
	}{
		"GENIUS Boulware": {strategy.GeniusBoulware(), strategy.GeniusBoulware(), analysis.Boulware, .2},
		"GENIUS linear":   {strategy.GeniusLinear(), strategy.GeniusBoulware(), analysis.Linear, 1},
		"GENIUS conceder": {strategy.GeniusConceder(), strategy.GeniusBoulware(), analysis.Conceder, 2},
		"NegMAS Boulware": {strategy.NegmasBoulware(), strategy.GeniusBoulware(), analysis.Boulware, .25},
		"NegMAS conceder": {strategy.NegmasConceder(), strategy.GeniusBoulware(), analysis.Conceder, 4},
		"hardliner":       {strategy.Hardliner(), strategy.GeniusBoulware(), analysis.Hardliner, 0},
		"tit-for-tat":     {absolute, strategy.GeniusConceder(), analysis.TitForTat, 0},
	} {
		t.Run(name, func(t *testing.T) {
			fit := session(t, 60, test.strategy, test.other).Parties[0].Fits[0]
			require.Equal(t, test.want, fit.Model, "%+v", fit)
			require.InDelta(t, test.exponent, fit.Exponent, .05*test.exponent)
			require.Greater(t, fit.Goodness, .95)
		})
	}
}

func TestExploitation(t *testing.T) {
	a := session(t, 60, strategy.NegmasConceder(), strategy.NegmasBoulware())
	require.Equal(t, 0, a.Exploited)
	require.Greater(t, a.Imbalance, .5)
	a = session(t, 60, strategy.NegmasBoulware(), strategy.NegmasConceder())
	require.Equal(t, 1, a.Exploited)
	a = session(t, 60, strategy.NegmasBoulware(), strategy.NegmasBoulware())
	require.Equal(t, analysis.Nobody, a.Exploited)
	require.InDelta(t, 1, a.Parties[0].Conceded+a.Parties[1].Conceded, 1e-9)
}

// TestPricesOnChain analyses the example of the specification.
func TestPricesOnChain(t *testing.T) {
	prices := analysis.Prices{Escrow: 5_000_000, MaxRounds: 6, Agreed: true, Price: 3_000_000,
		Offers: []uint64{2_000_000, 4_400_000, 2_450_000, 3_700_000, 3_000_000}}
	r, err := prices.Record()
	require.NoError(t, err)
	require.Equal(t, []float64{0, 0, .5, .5, 1}, times(r))
	a, err := analysis.Analyze(r)
	require.NoError(t, err)
	require.Equal(t, 2, a.Parties[0].Steps[analysis.Concession])
	require.InDelta(t, 1/2.4, a.Parties[0].Conceded, 1e-9)
	require.InDelta(t, 1.4/2.4, a.Parties[1].Conceded, 1e-9)
	require.Equal(t, []analysis.Fit{{Model: analysis.Unknown}}, a.Parties[0].Fits)

	for _, invalid := range []analysis.Prices{
		{}, {Escrow: 1, Offers: []uint64{1}}, {Escrow: 1, MaxRounds: 1, Offers: []uint64{2}},
	} {
		_, err := invalid.Record()
		require.ErrorIs(t, err, analysis.ErrRecord)
	}
	_, err = analysis.Analyze(analysis.Record{Offers: []analysis.Offer{{By: 2}}})
	require.ErrorIs(t, err, analysis.ErrRecord)
	none, err := analysis.Analyze(analysis.Record{})
	require.NoError(t, err)
	require.Equal(t, analysis.Nobody, none.Exploited)
}

func times(r analysis.Record) (times []float64) {
	for _, offer := range r.Offers {
		times = append(times, offer.Time)
	}
	return times
}

// TestOnChainStrategies plays strategies by the on-chain rules, and recognizes them from the prices alone.
func TestOnChainStrategies(t *testing.T) {
	rules := onchain.Rules{
		Escrow: 10_000_000, MaxRounds: 20, DecayRateBps: 100, FeeBps: 50, ResponseWindow: 300, Deadline: 86_400,
	}
	domain, err := onchain.Domain(rules.Escrow)
	require.NoError(t, err)
	player := func(side protocol.OfferSide, s bargain.Strategy, opening, reservation uint64) onchain.Player {
		preferences, utility, err := onchain.Preferences(domain, side, opening, reservation)
		require.NoError(t, err)
		return onchain.Player{Strategy: s, Preferences: preferences, Opening: utility}
	}
	result, err := rules.Run(1, player(0, strategy.GeniusBoulware(), 1_000_000, 5_000_000),
		player(1, strategy.GeniusConceder(), 8_000_000, 4_500_000))
	require.NoError(t, err)
	prices := analysis.Prices{Escrow: rules.Escrow, MaxRounds: int(rules.MaxRounds)}
	for _, offer := range result.History {
		prices.Offers = append(prices.Offers, domain.Issue(0).Amount(uint64(offer.Outcome)))
	}
	r, err := prices.Record()
	require.NoError(t, err)
	a, err := analysis.Analyze(r)
	require.NoError(t, err)
	require.Equal(t, analysis.Boulware, a.Parties[0].Fits[0].Model)
	require.InDelta(t, .2, a.Parties[0].Fits[0].Exponent, .02)
	require.Equal(t, analysis.Conceder, a.Parties[1].Fits[0].Model)
	require.InDelta(t, 2, a.Parties[1].Fits[0].Exponent, .2)
}
