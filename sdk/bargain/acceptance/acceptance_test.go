package acceptance_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// TestAllNeedsBothConditions has a buyer that accepts a price of at most 50 in the second half of the time.
// Any is beside it, so that the two cannot be mistaken for each other.
func TestAllNeedsBothConditions(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 100, 1))
	require.NoError(t, err)
	line, err := utility.PriceLine(domain, false)
	require.NoError(t, err)
	preferences, err := bargain.NewPreferences(domain, line, 0)
	require.NoError(t, err)
	seat := bargain.Seat{Preferences: preferences, Parties: 2, Steps: 10}
	cheap := acceptance.Const{Utility: preferences.Of(50)}
	late := acceptance.Time{From: fixed.One / 2}
	all := acceptance.All{First: cheap, Second: late}.Acceptor(seat)
	either := acceptance.Any{First: cheap, Second: late}.Acceptor(seat)
	for _, test := range []struct {
		price    bargain.Outcome
		time     fixed.Number
		all, any bool
	}{
		{50, fixed.One / 2, true, true},
		{51, fixed.One / 2, false, true},
		{50, fixed.One/2 - 1, false, true},
		{51, fixed.One/2 - 1, false, false},
	} {
		state := &bargain.State{Steps: 10, Time: test.time, Offer: test.price, Most: 100}
		require.Equal(t, test.all, all.Accepts(state, nil), "all: price %d at %v", test.price, test.time)
		require.Equal(t, test.any, either.Accepts(state, nil), "any: price %d at %v", test.price, test.time)
	}
}
