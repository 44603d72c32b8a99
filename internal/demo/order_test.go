package demo

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/exampleagent"
)

// deal is a negotiation in the order of the chain.
var deal = []exampleagent.Action{
	{Name: "create"}, {Name: "join"}, {Name: "offer", Round: 1}, {Name: "offer", Round: 2}, {Name: "offer", Round: 3},
	{Name: "take", Round: 3}, {Name: "close", Round: 3},
}

func names(actions []exampleagent.Action) string {
	var all []string
	for _, action := range actions {
		all = append(all, fmt.Sprint(action.Name, action.Round))
	}
	return strings.Join(all, " ")
}

func TestActionsAreToldInTheOrderOfTheChain(t *testing.T) {
	for range 200 {
		var told []exampleagent.Action
		order := newOrder(func(action exampleagent.Action) { told = append(told, action) })
		for _, at := range rand.Perm(len(deal)) {
			order.add(deal[at])
		}
		require.Equal(t, names(deal), names(told), "without waiting for the end")
		order.flush()
		require.Equal(t, told, order.told)
	}
}

func TestActionsAreToldAsSoonAsTheyCanBe(t *testing.T) {
	order := newOrder(func(exampleagent.Action) {})
	order.add(deal[1])
	require.Empty(t, order.told)
	order.add(deal[0])
	require.Len(t, order.told, 2)
	order.add(deal[3])
	require.Len(t, order.told, 2)
	order.flush()
	require.Equal(t, "create0 join0 offer2", names(order.told))
}

func TestAClaimComesBeforeClosing(t *testing.T) {
	order := newOrder(func(exampleagent.Action) {})
	for _, action := range []exampleagent.Action{{Name: "create"}, {Name: "join"}, {Name: "offer", Round: 1}, {Name: "claim", Round: 1}, {Name: "take", Round: 1}, {Name: "close", Round: 1}} {
		order.add(action)
	}
	require.Equal(t, "create0 join0 offer1 take1 claim1 close1", names(order.told))
}
