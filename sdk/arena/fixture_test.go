package arena

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var opens = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// pit is a test market with a clock.
type pit struct {
	t   require.TestingT
	m   *Market
	now time.Time
	// events are all events so far.
	events []Event
}

// newPit opens a market where the agents have joined, holding 100.00 each.
func newPit(t require.TestingT, agents ...string) *pit {
	m, err := New(Config{
		Market: "m", Question: "50,000 likes?", Opens: opens, Closes: opens.Add(time.Hour), Operator: "operator",
		Resolver: "resolver", Grant: 100 * SetPrice,
	})
	require.NoError(t, err)
	p := &pit{t: t, m: m, now: opens}
	for _, agent := range agents {
		p.do(agent, Join{Name: agent})
	}
	return p
}

// do applies an action that must be allowed; the agent has seen all own events.
func (p *pit) do(agent string, action Action) []Event {
	events, err := p.m.Apply(Input{At: p.now, Agent: agent, Seen: p.m.Shown(agent), Action: action})
	require.NoError(p.t, err)
	p.events = append(p.events, events...)
	return events
}

// refused applies an action that must be refused.
func (p *pit) refused(code Code, agent string, action Action) {
	events, err := p.m.Apply(Input{At: p.now, Agent: agent, Seen: p.m.Shown(agent), Action: action})
	p.events = append(p.events, events...)
	var refusal *Refusal
	require.True(p.t, errors.As(err, &refusal), "%v", err)
	require.Equal(p.t, code, refusal.Code, "%v", err)
}

// pass lets time pass.
func (p *pit) pass(d time.Duration) []Event {
	p.now = p.now.Add(d)
	return p.do("", nil)
}

// talk starts a side chat where the first agent begins, and returns the chat number.
func (p *pit) talk(agents ...string) int {
	p.do(agents[0], Invite{Agents: agents[1:]})
	for _, agent := range agents[1:] {
		p.do(agent, AcceptInvitation{Chat: p.m.chatCount})
	}
	p.pass(time.Second)
	return p.m.chatCount
}

// deal lets the first agent sell tokens to the second one, tentatively, and returns the number of the agreement.
func (p *pit) deal(seller, buyer string, price Price, quantity Quantity) int {
	chat := p.talk(seller, buyer)
	p.do(seller, Propose{chat, []Leg{{Seller: seller, Buyer: buyer, Token: Yes, Price: price, Quantity: quantity}}})
	p.pass(time.Second)
	p.do(buyer, Agree{Chat: chat, Proposal: 1})
	return len(p.m.agreements)
}

// finalize finalizes an agreement after the latest review.
func (p *pit) finalize(agent string, agreement int) []Event {
	return p.do(agent, Finalize{Agreement: agreement, Review: p.m.agents[agent].reviews})
}

// factsOf returns all facts with the given type, in order.
func factsOf[T Fact](events []Event) (all []T) {
	for _, event := range events {
		if fact, is := event.Fact.(T); is {
			all = append(all, fact)
		}
	}
	return all
}

// last returns the latest fact with the given type.
func last[T Fact](t *testing.T, events []Event) T {
	t.Helper()
	all := factsOf[T](events)
	require.NotEmpty(t, all)
	return all[len(all)-1]
}

// seenBy returns the events sent to an agent.
func seenBy(agent string, events []Event) []Event {
	return slices.DeleteFunc(slices.Clone(events), func(e Event) bool {
		return len(e.To) > 0 && !slices.Contains(e.To, agent)
	})
}
