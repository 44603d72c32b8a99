package simulation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/simulation"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

// TestMovesAreAnalysedAsTheirSession plays sessions again by their seed, and analyses their results: of
// alternating offers the utilities, by Haggle's rules the prices.
func TestMovesAreAnalysedAsTheirSession(t *testing.T) {
	agreed := 0
	pairs := [][]string{{"genius-boulware", "genius-linear"}, {"hardliner", "genius-linear"}}
	for _, name := range []string{"random-1-1", "random-2-1", "haggle-1-1", "haggle-1-2"} {
		for _, strategies := range pairs {
			s, err := simulation.Scenario(name)
			require.NoError(t, err)
			entrants, err := simulation.Entrants(strategies, nil)
			require.NoError(t, err)
			plan := &tournament.Plan{Entrants: entrants, Scenarios: tournament.List{s}, Steps: 30, Seed: 3}
			turns, end, err := plan.Trace(s, 0, 1, 0)
			require.NoError(t, err)
			got, err := simulation.Analyze(s, turns, &end)
			require.NoError(t, err)

			var record analysis.Record
			if s.Rules == nil {
				result, err := mechanism.Alternating{Steps: 30}.Run(end.Seed,
					mechanism.Party{Strategy: entrants[0].Strategy, Preferences: s.Preferences[0]},
					mechanism.Party{Strategy: entrants[1].Strategy, Preferences: s.Preferences[1]})
				require.NoError(t, err)
				record = analysis.FromResult(result, s.Preferences)
			} else {
				result, err := s.Rules.Run(end.Seed,
					onchain.Player{Strategy: entrants[0].Strategy, Preferences: s.Preferences[0], Opening: s.Opening[0]},
					onchain.Player{Strategy: entrants[1].Strategy, Preferences: s.Preferences[1], Opening: s.Opening[1]})
				require.NoError(t, err)
				prices := analysis.Prices{
					Escrow: s.Rules.Escrow, MaxRounds: int(s.Rules.MaxRounds), Price: result.Settlement.Price,
					Agreed: result.Ending == bargain.EndingAgreement,
				}
				for _, offer := range result.History {
					prices.Offers = append(prices.Offers, s.Preferences[0].Domain().Issue(0).Amount(uint64(offer.Outcome)))
				}
				record, err = prices.Record()
				require.NoError(t, err)
			}
			want, err := analysis.Analyze(record)
			require.NoError(t, err)
			require.Equal(t, want, got, "%s: %v", name, strategies)
			require.Positive(t, got.Parties[0].Offers)
			if record.Agreed {
				agreed++
			}
		}
	}
	require.Positive(t, agreed)
	require.Less(t, agreed, 8)
}
