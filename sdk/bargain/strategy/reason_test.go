package strategy_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// seller accepts nothing. It offers prices from 200 down, falling by the seller's number per step.
type seller int

// Start implements [bargain.Strategy].
func (s seller) Start(bargain.Seat) bargain.Negotiator { return s }

// Respond implements [bargain.Negotiator].
func (s seller) Respond(state *bargain.State) bargain.Action {
	return bargain.Propose(bargain.Outcome(200-int(s)*state.Step), "a test")
}

// reasons returns the distinct reasons for a buyer's moves, against a seller that stays at 200 and a seller
// that concedes. The buyer's reservation price is 120.
func reasons(t *testing.T, s bargain.Strategy) (list []string) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 200, 1))
	require.NoError(t, err)
	scenario := &tournament.Scenario{Name: "price"}
	for self := range scenario.Preferences {
		u, err := utility.PriceLine(domain, self == 1)
		require.NoError(t, err)
		scenario.Preferences[self], err = bargain.NewPreferences(domain, u, fixed.One/5*2)
		require.NoError(t, err)
	}
	for _, step := range []int{0, 18} {
		plan := tournament.Plan{Steps: 12, Entrants: []tournament.Entrant{
			{Name: "buyer", Strategy: s}, {Name: "seller", Strategy: seller(step)},
		}}
		turns, _, err := plan.Trace(scenario, 0, 1, 0)
		require.NoError(t, err)
		for _, turn := range turns {
			require.NotEmpty(t, turn.Reason)
			if reason := turn.Move.String() + ": " + turn.Reason; turn.By == 0 && !slices.Contains(list, reason) {
				list = append(list, reason)
			}
		}
	}
	return list
}

// TestEachStrategyGivesItsReasons compares with a file that lists all strategies and reasons.
func TestEachStrategyGivesItsReasons(t *testing.T) {
	var text strings.Builder
	for _, entry := range strategy.List() {
		text.WriteString(entry.Name + "\n\t" + strings.Join(reasons(t, entry.Strategy), "\n\t") + "\n")
	}
	want, err := os.ReadFile("testdata/reasons.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), text.String())
}
