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

// callLog records the calls of Decide.
type callLog struct{ turns chan agent.Turn }

func newCallLog() callLog { return callLog{make(chan agent.Turn, 64)} }

// next returns the following call's turn.
func (c callLog) next(f *fixture) agent.Turn {
	f.t.Helper()
	select {
	case turn := <-c.turns:
		return turn
	case <-f.ctx.Done():
		f.t.Fatal("Decide has not been called")
		return agent.Turn{}
	}
}

func (c callLog) requireNone(f *fixture) {
	f.t.Helper()
	select {
	case turn := <-c.turns:
		f.t.Fatalf("Decide has been called: %+v", turn)
	default:
	}
}

func TestDecideIsCalledOnceMoreBeforeTheDeadline(t *testing.T) {
	f := newFixture(t)
	negotiation := f.invite()
	f.run(f.Seller, agent.Config{Decide: wait, Services: services})
	calls := newCallLog()
	buyer := f.run(f.Buyer, agent.Config{
		Margin: 10 * time.Second,
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			calls.turns <- turn
			if turn.LastCall {
				return inRange(turn, 2_000_000)
			}
			return agent.Wait{}, nil
		},
	})
	first := calls.next(f)
	require.False(t, first.LastCall)
	require.Equal(t, first.Negotiation.TurnDeadline, first.Deadline)
	f.advance(time.Duration(first.Deadline-first.Now-25) * time.Second)
	calls.requireNone(f)
	f.advance(16 * time.Second)
	last := calls.next(f)
	require.True(t, last.LastCall)
	require.GreaterOrEqual(t, last.Now, last.Deadline-10)
	require.Less(t, last.Now, last.Deadline)
	f.until("the offer is made", func() bool { return f.state(negotiation).CurrentRound == 1 })
	calls.requireNone(f)
	require.Empty(t, buyer.errors())
}

func TestDecideIsCalledAgainAtTheTimeOfWait(t *testing.T) {
	f := newFixture(t)
	f.invite()
	f.run(f.Seller, agent.Config{Decide: wait, Services: services})
	calls := newCallLog()
	f.run(f.Buyer, agent.Config{
		Margin: 10 * time.Second,
		Decide: func(_ context.Context, turn agent.Turn) (agent.Decision, error) {
			calls.turns <- turn
			return agent.Wait{Until: turn.Now + 20}, nil
		},
	})
	first := calls.next(f)
	f.advance(21 * time.Second)
	again := calls.next(f)
	require.False(t, again.LastCall)
	require.GreaterOrEqual(t, again.Now, first.Now+20)
}

func TestOverdueNegotiationsAreExpiredAndClosed(t *testing.T) {
	f := newFixture(t)
	ignored := f.invite(func(r *haggle.CreateRequest) { r.Deadline = 70 * time.Second })
	buyer := f.run(f.Buyer, agent.Config{Decide: concede(2_000_000, 500_000, true)})
	f.until("the invitation exists", func() bool { return f.state(ignored) != nil })
	f.advance(80 * time.Second)
	f.until("the invitation has expired and is closed", func() bool { return f.state(ignored) == nil })

	// The seller accepts the invitation and then makes no move, not even on the last call.
	unanswered := f.invite()
	seller := f.run(f.Seller, agent.Config{Decide: wait, Services: services})
	f.until("the buyer has made its offer", func() bool { return f.state(unanswered).CurrentRound == 1 })
	f.advance(70 * time.Second)
	f.until("both runtimes report the results", func() bool {
		return len(buyer.results()) == 2 && len(seller.results()) == 1
	})
	require.Nil(t, f.state(unanswered))
	for _, result := range append(buyer.results(), seller.results()...) {
		require.Equal(t, protocol.NegotiationStatusExpired, result.Status)
		require.Zero(t, result.Price)
	}
	require.Len(t, eventsOf[*protocol.NegotiationExpired](f.history(unanswered)), 1)
}

func TestSellerExpiresTheNegotiationAfterItsGracePeriod(t *testing.T) {
	f := newFixture(t)
	seller := f.run(f.Seller, agent.Config{Decide: wait, Services: services})
	negotiation := f.invite()
	f.until("the seller accepts the invitation", func() bool { return f.state(negotiation).IsBargaining() })
	f.advance(61 * time.Second)
	time.Sleep(5 * time.Second)
	require.True(t, f.state(negotiation).IsBargaining(), "the buyer can expire it first")
	f.advance(31 * time.Second)
	require.Equal(t, protocol.NegotiationStatusExpired, f.result(seller).Status)
	require.Equal(t, protocol.NegotiationStatusExpired, f.state(negotiation).Status)
}
