package llm_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
	"github.com/haggle-protocol/haggle/sdk/llm"
)

// chooserOf returns a chooser with a model.
func chooserOf(t *testing.T, model llm.Model) *llm.Chooser {
	t.Helper()
	chooser, err := llm.NewChooser(model, llm.Options{Budget: plenty, Logger: quiet, Attempts: 1, SlackBps: 2_000})
	require.NoError(t, err)
	return chooser
}

// TestStrategyWithAFailingModelIsItsBase plays each strategy with and without a model that always fails.
func TestStrategyWithAFailingModelIsItsBase(t *testing.T) {
	model := &scriptedModel{name: "test:none", respond: func(context.Context, llm.Request) (*llm.Response, error) {
		return nil, &llm.ResponseError{Err: errors.New("down")}
	}}
	chooser := chooserOf(t, model)
	source := tournament.Random{Count: 4, Seed: 5}
	for _, entry := range strategy.List() {
		for at := range source.Count {
			scenario, err := source.Scenario(at)
			require.NoError(t, err)
			for self := range 2 {
				var results [2]bargain.Result
				for i, played := range []bargain.Strategy{entry.Strategy, llm.Strategy{Chooser: chooser, Base: entry.Strategy}} {
					parties := []mechanism.Party{
						{Strategy: strategy.Linear(), Preferences: scenario.Preferences[0]},
						{Strategy: strategy.Linear(), Preferences: scenario.Preferences[1]},
					}
					parties[self].Strategy = played
					results[i], err = mechanism.Alternating{Steps: 8}.Run(9, parties...)
					require.NoError(t, err)
				}
				require.Equal(t, results[0].Agreement, results[1].Agreement, "%s as party %d of %d", entry.Name, self, at)
				require.Equal(t, results[0].History, results[1].History, "%s as party %d of %d", entry.Name, self, at)
			}
		}
	}
	require.NotZero(t, model.calls.Load())
}

// TestModelsLoseNothingBelowTheReservationValue plays models that bargain badly against every strategy.
func TestModelsLoseNothingBelowTheReservationValue(t *testing.T) {
	agreements := 0
	for name, model := range characters(rand.New(rand.NewPCG(1, 2))) {
		chooser := chooserOf(t, model)
		source := tournament.Haggle{Count: 3, Seed: 7}
		for at := range source.Count {
			scenario, err := source.Scenario(at)
			require.NoError(t, err)
			for _, entry := range strategy.List() {
				for self := range 2 {
					parties := []mechanism.Party{
						{Strategy: entry.Strategy, Preferences: scenario.Preferences[0]},
						{Strategy: entry.Strategy, Preferences: scenario.Preferences[1]},
					}
					parties[self].Strategy = llm.Strategy{Chooser: chooser, Base: strategy.Linear()}
					result, err := mechanism.Alternating{Steps: 6}.Run(9, parties...)
					require.NoError(t, err)
					require.NoError(t, result.Err, "%s against %s", name, entry.Name)
					if result.Agreement == bargain.NoOutcome {
						continue
					}
					agreements++
					own := scenario.Preferences[self]
					require.GreaterOrEqual(t, own.Of(result.Agreement), own.Reservation(), "%s against %s", name, entry.Name)
				}
			}
		}
	}
	require.Greater(t, agreements, 100)
}
