package strategy_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// seller accepts nothing. It offers a price that falls by its number in each step, from 200.
type seller int

// Start implements [bargain.Strategy].
func (s seller) Start(bargain.Seat) bargain.Negotiator { return s }

// Respond implements [bargain.Negotiator].
func (s seller) Respond(state *bargain.State) bargain.Action {
	return bargain.Propose(bargain.Outcome(200-int(s)*state.Step), "a test")
}

// reasons returns the reasons of a buyer's moves without repetitions, against a seller that stays at 200 and
// one that concedes. Its reservation price is 120.
func reasons(t *testing.T, s bargain.Strategy) (list []string) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 200, 1))
	require.NoError(t, err)
	parties := make([]mechanism.Party, 2)
	for self := range parties {
		u, err := utility.PriceLine(domain, self == 1)
		require.NoError(t, err)
		p, err := bargain.NewPreferences(domain, u, fixed.One/5*2)
		require.NoError(t, err)
		parties[self].Preferences = p
	}
	parties[0].Strategy = observed{s, func(a bargain.Action) {
		require.NotEmpty(t, a.Reason)
		if reason := a.Move.String() + ": " + a.Reason; !slices.Contains(list, reason) {
			list = append(list, reason)
		}
	}}
	for _, step := range []int{0, 18} {
		parties[1].Strategy = seller(step)
		_, err = mechanism.Alternating{Steps: 12}.Run(1, parties...)
		require.NoError(t, err)
	}
	return list
}

// observed is a strategy whose moves are reported.
type observed struct {
	bargain.Strategy
	observe func(bargain.Action)
}

func (o observed) Start(seat bargain.Seat) bargain.Negotiator {
	return observedNegotiator{o.Strategy.Start(seat), o.observe}
}

type observedNegotiator struct {
	bargain.Negotiator
	observe func(bargain.Action)
}

func (o observedNegotiator) Respond(state *bargain.State) bargain.Action {
	action := o.Negotiator.Respond(state)
	o.observe(action)
	return action
}

// TestEachStrategyGivesItsReasons compares with a file that has the name of each strategy and its reasons.
func TestEachStrategyGivesItsReasons(t *testing.T) {
	var text strings.Builder
	for _, entry := range strategy.List() {
		text.WriteString(entry.Name + "\n\t" + strings.Join(reasons(t, entry.Strategy), "\n\t") + "\n")
	}
	want, err := os.ReadFile("testdata/reasons.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), text.String())
}
