package simulation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/lab/simulation"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
	"github.com/haggle-protocol/haggle/sdk/protocol"
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
				prices.Ranges = s.Rules.OfferRanges(len(prices.Offers))
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

// TestHardlinersAreRecognizedOnChain lets hardliners on both sides bargain with every other strategy, at the
// default terms. The default decay lowers the highest price with each offer.
func TestHardlinersAreRecognizedOnChain(t *testing.T) {
	plan := tournament.Plan{
		Scenarios: tournament.Haggle{Seed: 1, Count: 4},
		Entrants:  []tournament.Entrant{{Name: "hardliner", Strategy: strategy.Hardliner()}},
	}
	for _, entry := range strategy.List() {
		if entry.Name != "hardliner" {
			plan.Entrants = append(plan.Entrants, tournament.Entrant{Name: entry.Name, Strategy: entry.Strategy})
		}
	}
	sessions := 0
	for at := range plan.Scenarios.Len() {
		s, err := plan.Scenarios.Scenario(at)
		require.NoError(t, err)
		s.Rules.MaxRounds, s.Rules.DecayRateBps = protocol.DefaultMaxRounds, protocol.DefaultDecayRateBps
		s.Rules.MinOfferBps = protocol.DefaultMinOfferBps
		for other := 1; other < len(plan.Entrants); other++ {
			for hard, pair := range [2][2]int{{0, other}, {other, 0}} {
				turns, end, err := plan.Trace(s, pair[0], pair[1], 0)
				require.NoError(t, err)
				a, err := simulation.Analyze(s, turns, &end)
				require.NoError(t, err)
				profile := a.Parties[hard]
				if profile.Offers < 3 {
					continue
				}
				require.Equal(t, analysis.Hardliner, profile.Fits[0].Model, "%s, against %s as party %d: %+v",
					s.Name, plan.Entrants[other].Name, hard, turns)
				sessions++
			}
		}
	}
	require.Greater(t, sessions, 48)
}
