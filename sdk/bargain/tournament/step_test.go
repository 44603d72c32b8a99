package tournament_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

// TestPriceStepIsThatOfPlayersOnChain compares a session's offers with the offers by players with the same
// step, and with no step.
func TestPriceStepIsThatOfPlayersOnChain(t *testing.T) {
	scenario, err := tournament.Haggle{Seed: 5, Count: 2}.Scenario(1)
	require.NoError(t, err)
	step := scenario.Rules.Escrow / 50
	offers := func(step uint64) (made []bargain.Outcome, seed uint64) {
		plan := tournament.Plan{PriceStep: step, Entrants: []tournament.Entrant{
			{Name: "micro", Strategy: strategy.MiCRO()}, {Name: "cab", Strategy: strategy.CAB()},
		}}
		turns, session, err := plan.Trace(scenario, 0, 1, 0)
		require.NoError(t, err)
		for _, turn := range turns {
			if turn.Move == bargain.MoveOffer {
				made = append(made, turn.Outcome)
			}
		}
		return made, session.Seed
	}
	made, seed := offers(step)
	result, err := scenario.Rules.Run(seed,
		onchain.Player{Strategy: strategy.MiCRO(), Preferences: scenario.Preferences[0], Step: step},
		onchain.Player{Strategy: strategy.CAB(), Preferences: scenario.Preferences[1], Step: step})
	require.NoError(t, err)
	var played []bargain.Outcome
	for _, offer := range result.History {
		played = append(played, offer.Outcome)
	}
	require.Equal(t, played, made)
	usual, _ := offers(0)
	require.NotEqual(t, usual, made)
}
