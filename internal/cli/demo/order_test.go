package demo

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/cli/actions"
)

// deal is a negotiation in on-chain order.
var deal = []actions.Action{
	{Name: "create_negotiation"}, {Name: "accept_invitation"}, {Name: "submit_offer", Round: 1}, {Name: "submit_offer", Round: 2}, {Name: "submit_offer", Round: 3},
	{Name: "accept_offer", Round: 3}, {Name: "close_negotiation", Round: 3},
}

func names(listed []actions.Action) string {
	var all []string
	for _, action := range listed {
		all = append(all, fmt.Sprint(action.Name, action.Round))
	}
	return strings.Join(all, " ")
}

func TestActionsAreReleasedInTheOrderOfTheChain(t *testing.T) {
	for range 200 {
		var released []actions.Action
		order := newOrder(func(action actions.Action) { released = append(released, action) })
		for _, at := range rand.Perm(len(deal)) {
			order.add(deal[at])
		}
		require.Equal(t, names(deal), names(released), "without waiting for the end")
		order.flush()
		require.Equal(t, released, order.released)
	}
}

func TestActionsAreReleasedAsSoonAsPossible(t *testing.T) {
	order := newOrder(func(actions.Action) {})
	order.add(deal[1])
	require.Empty(t, order.released)
	order.add(deal[0])
	require.Len(t, order.released, 2)
	order.add(deal[3])
	require.Len(t, order.released, 2)
	order.flush()
	require.Equal(t, "create_negotiation0 accept_invitation0 submit_offer2", names(order.released))
}

func TestAClaimComesBeforeClosing(t *testing.T) {
	order := newOrder(func(actions.Action) {})
	for _, action := range []actions.Action{{Name: "create_negotiation"}, {Name: "accept_invitation"}, {Name: "submit_offer", Round: 1}, {Name: "claim_payout", Round: 1}, {Name: "accept_offer", Round: 1}, {Name: "close_negotiation", Round: 1}} {
		order.add(action)
	}
	require.Equal(t, "create_negotiation0 accept_invitation0 submit_offer1 accept_offer1 claim_payout1 close_negotiation1", names(order.released))
}
