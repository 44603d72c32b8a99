package simulation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/lab/simulation"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

// TestOrderOfNegmasChangesTiedSessions plays a tied scenario of tests/negmas in both orders.
func TestOrderOfNegmasChangesTiedSessions(t *testing.T) {
	play := func(order simulation.Order) (ended []tournament.Session) {
		s, err := simulation.Scenario("../../../tests/negmas/testdata/tied-5-wide")
		require.NoError(t, err)
		require.NoError(t, order.Apply(s))
		entrants, err := simulation.Entrants([]string{"negmas-boulware", "micro", "cab", "negmas-tit-for-tat"}, nil)
		require.NoError(t, err)
		plan := tournament.Plan{Entrants: entrants, Scenarios: tournament.List{s}, Steps: 120, Seed: 1}
		require.NoError(t, plan.Run(t.Context(), 1, 0, func(block *tournament.Block) error {
			ended = append(ended, block.Sessions...)
			return nil
		}))
		return ended
	}
	require.Equal(t, play(""), play(simulation.OrderNumber))
	require.NotEqual(t, play(simulation.OrderNumber), play(simulation.OrderNegmas))

	generated, err := simulation.Scenario("random-1-1")
	require.NoError(t, err)
	require.ErrorIs(t, simulation.OrderNegmas.Apply(generated), simulation.ErrInput)
	require.ErrorIs(t, simulation.Order("name").Apply(generated), simulation.ErrInput)
	// The order belongs to the plan: a directory does not continue with a different order.
	options := simulation.Options{
		Strategies: []string{"cab", "micro"}, Scenarios: []string{"../../../tests/negmas/testdata/tied-2"},
		Order: simulation.OrderNegmas, Seed: 1, Rounds: 20, Repetitions: 1, Folder: t.TempDir() + "/results",
	}
	_, err = simulation.Run(t.Context(), options)
	require.NoError(t, err)
	options.Order = simulation.OrderNumber
	_, err = simulation.Run(t.Context(), options)
	require.ErrorIs(t, err, simulation.ErrFolder)
}
