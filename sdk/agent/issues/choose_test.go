package issues_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

// TestChosenMoveReplacesTheStrategysOwn tests a caller that offers one day more than the strategy, and moves
// that cannot be carried out.
func TestChosenMoveReplacesTheStrategysOwn(t *testing.T) {
	s := newTable(t, strategy.NegmasLinear())
	domain := s.player.Preferences.Domain()
	var chosen bargain.Action
	var failure error
	s.player.Choose = func(_ context.Context, turn agent.Turn, a bargain.Assessment) (bargain.Action, error) {
		require.Equal(t, s.turn.Negotiation, turn.Negotiation)
		require.Equal(t, bargain.MoveOffer, a.Move.Move)
		require.Equal(t, a.Move.Outcome, a.Target)
		if failure != nil || chosen != (bargain.Action{}) {
			return chosen, failure
		}
		return bargain.Propose(domain.With(a.Target, 1, domain.Value(a.Target, 1)+1), "chosen"), nil
	}
	_, offered := s.decide().(agent.Offer)
	require.True(t, offered)
	require.Equal(t, "price=1000000, days=2", s.moves[0].Text)
	require.Equal(t, "chosen", s.moves[0].Reason)

	for name, move := range map[string]bargain.Action{
		"accept without an offer":     bargain.Accept("chosen"),
		"unknown outcome":             bargain.Propose(bargain.Outcome(domain.Size()), "chosen"),
		"below the reservation value": bargain.Propose(domain.Outcome(domain.Issue(0).Count-1, 29), "chosen"),
	} {
		s = newTable(t, strategy.NegmasLinear())
		s.player.Choose = func(context.Context, agent.Turn, bargain.Assessment) (bargain.Action, error) {
			return move, nil
		}
		_, err := s.player.Decide(t.Context(), s.turn)
		require.ErrorContains(t, err, "issues: Choose", name)
		require.Empty(t, s.moves, name)
	}
	s = newTable(t, strategy.NegmasLinear())
	failure = errors.New("no record")
	s.player.Choose = func(context.Context, agent.Turn, bargain.Assessment) (bargain.Action, error) {
		return bargain.Action{}, failure
	}
	_, err := s.player.Decide(t.Context(), s.turn)
	require.ErrorIs(t, err, failure)
}
