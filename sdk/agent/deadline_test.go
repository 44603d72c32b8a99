package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// asked notes what an agent is asked.
type asked struct{ turns chan agent.Turn }

func newAsked() asked { return asked{make(chan agent.Turn, 64)} }

func (a asked) next(s *stage) agent.Turn {
	s.t.Helper()
	select {
	case turn := <-a.turns:
		return turn
	case <-s.ctx.Done():
		s.t.Fatal("the agent has not been asked")
		return agent.Turn{}
	}
}

func (a asked) none(s *stage) {
	s.t.Helper()
	select {
	case turn := <-a.turns:
		s.t.Fatalf("the agent has been asked: %+v", turn)
	default:
	}
}

func waits(context.Context, agent.Turn) (agent.Decision, error) { return agent.Wait{}, nil }

func TestAgentIsAskedOnceMoreBeforeTheTimeToAnswerIsOver(t *testing.T) {
	s := setStage(t)
	negotiation := s.invite()
	s.run(s.Seller, agent.Config{Decide: waits, Services: [][32]byte{service}})
	questions := newAsked()
	buyer := s.run(s.Buyer, agent.Config{
		Margin: 10 * time.Second,
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			questions.turns <- turn
			if turn.LastCall {
				return inRange(turn, 2_000_000)
			}
			return agent.Wait{}, nil
		},
	})
	first := questions.next(s)
	require.False(t, first.LastCall)
	require.Equal(t, first.Negotiation.TurnDeadline, first.Deadline)
	s.advance(time.Duration(first.Deadline-first.Now-25) * time.Second)
	questions.none(s)
	s.advance(16 * time.Second)
	last := questions.next(s)
	require.True(t, last.LastCall)
	require.GreaterOrEqual(t, last.Now, last.Deadline-10)
	require.Less(t, last.Now, last.Deadline)
	s.until("the offer is made in time", func() bool { return s.state(negotiation).CurrentRound == 1 })
	questions.none(s)
	require.Empty(t, buyer.failed())
}

func TestAgentIsAskedAgainWhenItHasSaid(t *testing.T) {
	s := setStage(t)
	s.invite()
	s.run(s.Seller, agent.Config{Decide: waits, Services: [][32]byte{service}})
	questions := newAsked()
	s.run(s.Buyer, agent.Config{
		Margin: 10 * time.Second,
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			questions.turns <- turn
			return agent.Wait{Until: turn.Now + 20}, nil
		},
	})
	first := questions.next(s)
	s.advance(21 * time.Second)
	again := questions.next(s)
	require.False(t, again.LastCall)
	require.GreaterOrEqual(t, again.Now, first.Now+20)
}

func TestNegotiationsWhoseTimeIsOverAreExpiredAndClosed(t *testing.T) {
	s := setStage(t)
	ignored := s.invite(func(r *haggle.CreateRequest) { r.Deadline = 70 * time.Second })
	buyer := s.run(s.Buyer, agent.Config{Decide: concede(2_000_000, 500_000, true)})
	s.until("the invitation waits", func() bool { return s.state(ignored) != nil })
	s.advance(80 * time.Second)
	s.until("the invitation that nobody accepted is gone", func() bool { return s.state(ignored) == nil })

	// The seller takes part and then says nothing more: it lets the last call pass.
	silent := s.invite()
	seller := s.run(s.Seller, agent.Config{Decide: waits, Services: [][32]byte{service}})
	s.until("the buyer has made its offer", func() bool { return s.state(silent).CurrentRound == 1 })
	s.advance(70 * time.Second)
	s.until("both have been told of the end", func() bool { return len(buyer.ended()) == 2 && len(seller.ended()) == 1 })
	require.Nil(t, s.state(silent))
	for _, result := range append(buyer.ended(), seller.ended()...) {
		require.Equal(t, protocol.NegotiationStatusExpired, result.Status)
		require.Zero(t, result.Price)
	}
	require.Len(t, eventsOf[*protocol.NegotiationExpired](s.history(silent)), 1)
}

func TestSellerEndsWhatItsBuyerLeavesBehind(t *testing.T) {
	s := setStage(t)
	seller := s.run(s.Seller, agent.Config{Decide: waits, Services: [][32]byte{service}})
	negotiation := s.invite()
	s.until("the seller takes part", func() bool { return s.state(negotiation).IsBargaining() })
	s.advance(61 * time.Second)
	time.Sleep(5 * time.Second)
	require.True(t, s.state(negotiation).IsBargaining(), "the buyer has some time to do it itself")
	s.advance(31 * time.Second)
	require.Equal(t, protocol.NegotiationStatusExpired, s.result(seller).Status)
	require.Equal(t, protocol.NegotiationStatusExpired, s.state(negotiation).Status)
}
