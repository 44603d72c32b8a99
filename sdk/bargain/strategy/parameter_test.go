package strategy_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

// played returns a strategy's moves in sessions with several opponents, as text. Names do not select the
// random numbers.
func played(t *testing.T, s bargain.Strategy) string {
	var text strings.Builder
	for at, source := range []tournament.Source{
		tournament.Random{Seed: 3, Count: 3}, tournament.Haggle{Seed: 3, Count: 2},
	} {
		for number := range source.Len() {
			scenario, err := source.Scenario(number)
			require.NoError(t, err)
			for _, other := range []bargain.Strategy{
				strategy.NegmasConceder(), strategy.GeniusBoulware(), strategy.Random(), strategy.TitForTat(),
			} {
				plan := tournament.Plan{Steps: 50, Entrants: []tournament.Entrant{
					{Name: "a", Strategy: s}, {Name: "b", Strategy: other},
				}}
				turns, session, err := plan.Trace(scenario, 0, 1, 0)
				require.NoError(t, err)
				for _, turn := range turns {
					fmt.Fprintln(&text, at, turn.Move, turn.Outcome)
				}
				fmt.Fprintln(&text, session.Ending, session.Agreement)
			}
		}
	}
	return text.String()
}

// TestEachParameterChangesTheMoves plays every parameter's minimum and maximum.
func TestEachParameterChangesTheMoves(t *testing.T) {
	for _, entry := range strategy.List() {
		if len(entry.Parameters) == 0 {
			continue
		}
		usual := played(t, entry.Strategy)
		for _, p := range entry.Parameters {
			require.NotEmpty(t, p.Summary, entry.Name)
			require.NotRegexp(t, `\.$`, p.Summary, entry.Name)
			changes := false
			for _, end := range []fixed.Number{p.Min, p.Max} {
				text := entry.Name + ":" + p.Name + "=" + end.String()
				changed, err := strategy.Parse(text)
				require.NoError(t, err)
				changes = changes || usual != played(t, changed.Strategy)
			}
			require.True(t, changes, "%s: %s", entry.Name, p.Name)
		}
	}
}

// TestValuesOfParametersLeadToRationalAgreements plays any strategies with any values.
func TestValuesOfParametersLeadToRationalAgreements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := tournament.Plan{Steps: rapid.IntRange(1, 30).Draw(t, "steps")}
		for range 2 {
			entry, arguments := drawn(t)
			if len(arguments) > 0 {
				var err error
				entry, err = strategy.Parse(entry.Name + ":" + strings.Join(arguments, ","))
				require.NoError(t, err)
			}
			plan.Entrants = append(plan.Entrants, tournament.Entrant{Name: entry.String(), Strategy: entry.Strategy})
		}
		number, source := rapid.IntRange(0, 99).Draw(t, "scenario"), tournament.Source(tournament.Random{Seed: 1, Count: 100})
		if rapid.Bool().Draw(t, "haggle") {
			source = tournament.Haggle{Seed: 1, Count: 100}
		}
		scenario, err := source.Scenario(number)
		require.NoError(t, err)
		_, session, err := plan.Trace(scenario, 0, 1, 0)
		require.NoError(t, err)
		if session.Agreement != bargain.NoOutcome {
			for role, p := range scenario.Preferences {
				name := plan.Entrants[role].Name
				require.True(t, p.IsRational(session.Agreement) || strings.HasPrefix(name, "wa"), name)
			}
		}
	})
}

// TestDefaultsAreTheConstructors checks that a plain name yields the strategy in the literature.
func TestDefaultsAreTheConstructors(t *testing.T) {
	constructed := map[string]bargain.Strategy{
		"ac-combi-avg": strategy.ACCombiAvg(), "ac-combi-max": strategy.ACCombiMax(),
		"ac-combi-prob": strategy.ACCombiProb(), "ac-const": strategy.ACConst(), "ac-time": strategy.ACTime(),
		"averaged-tit-for-tat": strategy.AveragedTitForTat(), "bayesian": strategy.Bayesian(),
		"faratin-exponential": strategy.FaratinExponential(fixed.One/10, fixed.One),
		"genius-boulware":     strategy.GeniusBoulware(), "genius-conceder": strategy.GeniusConceder(),
		"genius-linear": strategy.GeniusLinear(), "hybrid": strategy.Hybrid(), "mixture": strategy.Mixture(),
		"nash-frequency": strategy.NashFrequency(), "negmas-boulware": strategy.NegmasBoulware(),
		"negmas-conceder": strategy.NegmasConceder(), "negmas-tit-for-tat": strategy.NegmasTitForTat(),
		"patience": strategy.Patience(), "random-absolute": strategy.RandomAbsolute(),
		"resource-dependent": strategy.ResourceDependent(), "smith": strategy.Smith(), "switch": strategy.Switch(),
		"tit-for-tat": strategy.TitForTat(),
	}
	for _, entry := range strategy.List() {
		if len(entry.Parameters) > 0 {
			require.NotNil(t, constructed[entry.Name], entry.Name)
			require.True(t, played(t, constructed[entry.Name]) == played(t, entry.Strategy), entry.Name)
		}
	}
}
