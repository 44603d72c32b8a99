package tournament_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

// TestTheOptimalPlayerKnowsBothSides compares sessions with the equilibrium for the scenario's prices. The
// test reads the prices from the utilities in sequence.
func TestTheOptimalPlayerKnowsBothSides(t *testing.T) {
	list := append(entrants("linear", "micro", "hardliner", "car"),
		tournament.Entrant{Name: game.Name, Strategy: game.Complete{}})
	plan := tournament.Plan{
		Entrants: list, SelfPlay: true, Scenarios: tournament.Haggle{Seed: 2, Count: 40},
	}
	optimal, agreed := len(list)-1, 0
	for at := range plan.Scenarios.Len() {
		s, err := plan.Scenarios.Scenario(at)
		require.NoError(t, err)
		issue := s.Preferences[0].Domain().Issue(0)
		cost := issue.Amount(uint64(s.Preferences[1].Inverse().AtLeast(s.Preferences[1].Reservation())))
		require.True(t, s.Preferences[1].IsRational(bargain.Outcome(cost/issue.Tick)))
		require.False(t, s.Preferences[1].IsRational(bargain.Outcome(cost/issue.Tick-1)))
		value := issue.Amount(uint64(s.Preferences[0].Inverse().AtLeast(s.Preferences[0].Reservation())))
		require.True(t, s.Preferences[0].IsRational(bargain.Outcome(value/issue.Tick)))
		require.False(t, s.Preferences[0].IsRational(bargain.Outcome(value/issue.Tick+1)))
		h := game.Haggle{Rules: *s.Rules, Value: value, Cost: cost - s.Rules.Negotiation().FeeOn(cost)}
		want := h.Equilibrium()
		_, session, err := plan.Trace(s, optimal, optimal, 0)
		require.NoError(t, err)
		require.Equal(t, want.Agreed, session.Ending == bargain.EndingAgreement, s.Name)
		require.Equal(t, want.Price, session.Settlement.Price, s.Name)
		if want.Agreed {
			agreed++
		}
		for other := range list {
			_, _, err := plan.Trace(s, optimal, other, 0)
			require.NoError(t, err)
		}
	}
	require.Greater(t, agreed, 5)
}

func TestTheOptimalPlayerNeedsHagglesRules(t *testing.T) {
	plan := tournament.Plan{
		Entrants:  []tournament.Entrant{{Name: game.Name, Strategy: game.Complete{}}},
		Scenarios: tournament.Random{Seed: 1, Count: 1}, SelfPlay: true,
	}
	_, err := plan.Play(0)
	require.ErrorIs(t, err, tournament.ErrPlan)
	require.ErrorContains(t, err, `scenario "random-1-1": the optimal player needs Haggle's rules`)
}
