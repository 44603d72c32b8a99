package arena

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Rules 33, 35, 38 and 42, using the numbers from the example.
func TestReviewWarnsBeforeAFinalization(t *testing.T) {
	p := newPit(t, "degen", "karpathy", "balaji")
	p.m.config.Tentative = 45 * Second
	for _, seller := range []string{"karpathy", "balaji"} {
		require.NoError(t, p.m.ledger.deposit(seller, 100*SetPrice))
		p.do(seller, Split{Sets: 150})
	}
	first := p.deal("karpathy", "degen", 58, 150)
	p.m.config.Tentative = 65 * Second
	second := p.deal("balaji", "degen", 55, 50)
	review := last[Reviewed](t, seenBy("degen", p.events)).Review
	require.Equal(t, "87.00", review.Pending[0].Pays.String())
	require.Equal(t, "27.50", review.Pending[1].Pays.String())
	require.Equal(t, "114.50", review.Required.String())
	require.Equal(t, "100.00", review.Holding.Money.String())
	require.True(t, review.Insufficient)
	require.Equal(t, Duration(43_000), review.Pending[0].Left)

	p.refused(CodeChanged, "degen", Finalize{Agreement: first, Review: review.Number - 1})
	p.finalize("degen", first)
	require.Equal(t, Holding{Money: 13 * SetPrice, Yes: 150}, p.m.ledger.Holding("degen"))
	require.Equal(t, Price(58), p.m.View().Price)
	// The second agreement is too expensive now. It stays until cancelled.
	p.refused(CodeFunds, "degen", Finalize{Agreement: second, Review: p.m.agents["degen"].reviews})
	cancelled := last[Voided](t, seenBy("balaji", p.do("degen", Cancel{Agreement: second})))
	require.Equal(t, CauseCancelled, cancelled.Cause)
	require.Equal(t, AvailabilityAvailable, p.m.agents["balaji"].availability())
	require.Equal(t, Record{Finalized: 1, Cancelled: 1}, p.m.agents["degen"].record)
}

// Rule 30.
func TestEdgeCase1PriceMovesDuringANegotiation(t *testing.T) {
	p := newPit(t, "a", "b", "c", "d")
	p.do("a", Split{Sets: 50})
	p.do("c", Split{Sets: 50})
	pending := p.deal("a", "b", 65, 10)
	talk := p.talk("b", "d")
	events := p.finalize("c", p.deal("c", "d", 40, 10))
	update := last[Update](t, seenBy("b", events))
	require.Equal(t, Update{Chat: talk, Token: Yes, Was: FirstPrice, Now: 40, Trades: 1}, update)
	require.Empty(t, factsOf[Update](seenBy("a", events)), "a is in no side chat")
	// Both choices are open.
	p.finalize("b", pending)
	require.EqualValues(t, 10, p.m.ledger.Holding("b").Yes)
}

// Rules 35, 37 and 42.
func TestEdgeCase2CounterpartLosesItsCapacity(t *testing.T) {
	p := newPit(t, "a", "b", "c")
	p.do("a", Split{Sets: 50})
	first := p.deal("a", "b", 50, 50)
	p.finalize("c", p.deal("a", "c", 60, 50))
	before := p.m.ledger.Holding("b")
	voided := last[Voided](t, seenBy("b", p.finalize("b", first)))
	require.Equal(t, CauseCapacity, voided.Cause)
	require.Equal(t, "counterparty no longer has capacity", string(voided.Cause))
	require.Equal(t, before, p.m.ledger.Holding("b"))
	require.Equal(t, 1, p.m.agents["a"].record.Failed)
	require.Zero(t, p.m.agents["b"].record.Failed)
}

// Rule 34.
func TestEdgeCase3BothFinalizeAtOnce(t *testing.T) {
	p := newPit(t, "a", "b")
	p.do("a", Split{Sets: 50})
	deal := p.deal("a", "b", 50, 10)
	require.Len(t, factsOf[Traded](p.finalize("a", deal)), 1)
	require.Empty(t, p.finalize("b", deal), "it is executed once")
	require.EqualValues(t, 10, p.m.ledger.Holding("b").Yes)
}

// Rules 24 and 41.
func TestEdgeCase4SilentAgentFreesTheOthers(t *testing.T) {
	p := newPit(t, "a", "b", "c")
	first, second := p.talk("a", "b", "c"), p.talk("b", "a")
	events := p.pass(30 * time.Second)
	require.Equal(t, []Left{{Agent: "a", Unresponsive: true}}, factsOf[Left](events)[:1])
	ended := factsOf[ChatEnded](events)
	require.Equal(t, ChatEnded{Chat: first, Duration: 31 * Second, Cause: CauseSilent}, ended[0])
	require.Equal(t, second, ended[1].Chat)
	require.Equal(t, AvailabilityUnresponsive, p.m.agents["a"].availability())
	require.Equal(t, AvailabilityAvailable, p.m.agents["c"].availability())
	p.refused(CodeAbsent, "c", Invite{Agents: []string{"a"}})
	p.refused(CodeAbsent, "a", State{})
	p.do("a", Connect{})
	p.do("c", Invite{Agents: []string{"a"}})
	require.Equal(t, 1, p.m.agents["a"].record.Silent)
}

// Rules 10 and 40.
func TestEdgeCase5MarketClosesDuringANegotiation(t *testing.T) {
	p := newPit(t, "a", "b", "c")
	p.do("a", Split{Sets: 50})
	p.pass(time.Hour - 4*time.Second)
	deal := p.deal("a", "b", 50, 10)
	p.talk("a", "c")
	p.refused(CodeClosed, "resolver", Resolve{OutcomeYes})
	events := p.pass(time.Second)
	require.Equal(t, CauseClosed, last[ChatEnded](t, events).Cause)
	require.Equal(t, CauseClosed, last[Voided](t, events).Cause)
	require.Len(t, factsOf[Closed](events), 1)
	p.refused(CodeClosed, "a", Finalize{Agreement: deal})
	p.do("resolver", Resolve{OutcomeNo})
	require.Equal(t, Holding{Money: 100 * SetPrice}, p.m.ledger.Holding("a"))
	p.refused(CodeClosed, "resolver", Resolve{OutcomeYes})
}

// Rule 11.
func TestSilentResolverMeansVoid(t *testing.T) {
	p := newPit(t, "a")
	p.do("a", Split{Sets: 3})
	p.pass(time.Hour + 7*24*time.Hour - 1)
	require.Equal(t, PhaseClosed, p.m.phase)
	require.Equal(t, OutcomeVoid, last[Resolved](t, p.pass(1)).Outcome)
	require.Equal(t, Holding{Money: 100 * SetPrice}, p.m.ledger.Holding("a"))
}

// Rule 32.
func TestTentativeAgreementExpires(t *testing.T) {
	p := newPit(t, "a", "b")
	p.do("a", Split{Sets: 50})
	deal := p.deal("a", "b", 50, 10)
	require.Equal(t, AvailabilityPending, p.m.agents["a"].availability())
	require.Empty(t, factsOf[Voided](p.pass(30*time.Second-1)))
	events := p.pass(1)
	for _, party := range []string{"a", "b"} {
		require.Equal(t, CauseExpired, last[Voided](t, seenBy(party, events)).Cause)
		require.Equal(t, Record{Expired: 1}, p.m.agents[party].record)
	}
	p.refused(CodeUnknown, "b", Finalize{Agreement: deal})
	require.EqualValues(t, 50, p.m.ledger.Holding("a").Yes, "nothing has moved")
}
