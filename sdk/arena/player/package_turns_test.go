package player_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/player"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
	"github.com/haggle-protocol/haggle/sdk/bargain"
)

// packageTurn returns a turn of "me" in a chat with "x" and "y", who sell to the player at each offer's
// prices.
func packageTurn(limits trader.Limits, offers ...offerOf) trader.Turn {
	turn := trader.Turn{
		Desk: trader.Desk{
			Self: "me", Limits: limits, View: arena.View{Price: 50}, Holding: arena.Holding{Money: grant},
		},
		Chat: trader.Chat{
			Number: 3, Mode: arena.ModePackages, Members: []string{"x", "y", "me"}, Begun: true, Stands: len(offers) > 0,
		},
	}
	for i, offer := range offers {
		turn.Chat.Offers = append(turn.Chat.Offers, arena.Proposed{
			Chat: 3, Proposal: i + 1, Agent: offer.by, Counter: i > 0, Legs: []arena.Leg{
				{Seller: "x", Buyer: "me", Token: arena.Yes, Price: offer.x, Quantity: 10},
				{Seller: offer.seller, Buyer: "me", Token: arena.Yes, Price: offer.y, Quantity: 10},
			},
		})
	}
	return turn
}

type offerOf struct {
	by, seller string
	x, y       arena.Price
}

// follower returns a follower's decisions with the estimate 0.60. It buys at up to 0.51 if the market price
// is 0.50, but for more at different market prices. Each turn's move is made by move.
func follower(t *testing.T, move bargain.Action, assessed *bargain.Assessment) trader.Config {
	t.Helper()
	personality, _ := player.PersonalityNamed("follower")
	p, err := player.New(personality, player.Options{
		Estimate: 60, Risk: 50 * arena.SetPrice,
		Choose: func(_ context.Context, _ trader.Turn, a bargain.Assessment) (bargain.Action, error) {
			*assessed = a
			return move, nil
		},
	})
	require.NoError(t, err)
	return p.Trader(trader.Config{}, grant)
}

// Rule 31. Turn order determines the acceptances: offers contain no events for them.
func TestStrategyGetsTurnsOfAllMembers(t *testing.T) {
	var assessed bargain.Assessment
	config := follower(t, bargain.End(""), &assessed)
	for _, test := range []struct {
		name    string
		offers  []offerOf
		round   int
		history []bargain.Offer
	}{
		{"y has agreed", []offerOf{{"x", "y", 60, 70}}, 2, []bargain.Offer{{By: 0, Outcome: 34}}},
		{
			"x has agreed to an offer of me, and me to an offer of y", []offerOf{
				{"x", "y", 60, 70}, {"y", "y", 60, 66}, {"me", "y", 40, 40}, {"y", "y", 40, 50}, {"x", "y", 50, 50},
				{"y", "y", 50, 48},
			}, 8, []bargain.Offer{
				{By: 0, Outcome: 34}, {By: 1, Outcome: 36}, {By: 2, Outcome: 59}, {By: 1, Outcome: 54}, {By: 0, Outcome: 49},
				{By: 1, Outcome: 50},
			},
		},
		{"a fourth member has left", []offerOf{{"x", "z", 60, 70}, {"x", "y", 60, 66}}, 2, []bargain.Offer{{By: 0, Outcome: 36}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := config.Negotiate(t.Context(), packageTurn(config.Limits, test.offers...))
			require.NoError(t, err)
			require.Equal(t, test.round, assessed.Round)
			require.Equal(t, 24, assessed.Rounds)
			require.Len(t, assessed.State.History, len(test.history))
			for i, offer := range assessed.State.History {
				require.Equal(t, test.history[i], bargain.Offer{By: offer.By, Outcome: offer.Outcome})
			}
		})
	}
}

// Rule 31. The mean price is good, and the price of y is not. A model that accepts does not change the limits.
func TestPlayerAgreesToNoSaleBeyondItsLimit(t *testing.T) {
	var assessed bargain.Assessment
	config := follower(t, bargain.Accept(""), &assessed)
	move, err := config.Negotiate(t.Context(), packageTurn(config.Limits, offerOf{"x", "y", 30, 51}))
	require.NoError(t, err)
	require.Equal(t, trader.Agree{}, move)
	turn := packageTurn(config.Limits, offerOf{"x", "y", 30, 55})
	require.NoError(t, turn.Permits(turn.Chat.Offers[0].Legs, 3), "within the trader's limits")
	move, err = config.Negotiate(t.Context(), turn)
	require.NoError(t, err)
	offer, is := move.(trader.Offer)
	require.True(t, is, "%T", move)
	require.Equal(t, []arena.Price{30, 51}, []arena.Price{offer.Legs[0].Price, offer.Legs[1].Price})
}
