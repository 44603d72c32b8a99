package arena

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var crowd = []string{"a", "b", "c", "d"}

// randomActions draws inputs that are mostly possible.
func randomActions(m *Market) *rapid.Generator[Action] {
	return rapid.Custom(func(t *rapid.T) Action {
		number := func(most int) int { return rapid.IntRange(0, most+1).Draw(t, "number") }
		agent := func() string { return rapid.SampledFrom(crowd).Draw(t, "agent") }
		chat := number(m.chatCount)
		standing := 1
		if c := m.chats[chat]; c != nil {
			standing = c.proposals
		}
		quantity := Quantity(rapid.IntRange(0, 60).Draw(t, "quantity"))
		legs := []Leg{{Seller: agent(), Buyer: agent(), Token: Yes, Price: Price(rapid.IntRange(0, 100).Draw(t, "price")), Quantity: quantity}}
		if rapid.Bool().Draw(t, "chain") {
			legs = append(legs, Leg{Seller: legs[0].Buyer, Buyer: agent(), Token: No, Price: 40, Quantity: quantity})
		}
		return rapid.SampledFrom([]Action{
			nil, Connect{}, Leave{}, State{}, Split{quantity}, Merge{quantity}, Say{Text: "hi", Mentions: []string{agent()}}, Pass{},
			Invite{Agents: []string{agent()}}, Invite{Agents: []string{agent(), agent()}}, AcceptInvitation{chat},
			AcceptInvitation{m.chatCount}, DeclineInvitation{chat}, Chat{Chat: chat, Text: "psst"}, Propose{chat, legs},
			Counter{chat, standing, legs}, Agree{chat, standing}, Agree{chat, standing}, Reject{chat, standing}, LeaveChat{chat},
			Finalize{number(len(m.agreements)), number(5)}, Finalize{len(m.agreements), number(2)}, Cancel{number(len(m.agreements))},
			Resolve{OutcomeVoid}, Deposit{agent(), Money(quantity)}, Withdraw{agent(), Money(quantity)},
		}).Draw(t, "action")
	})
}

// privateChat returns the side chat number for facts visible only to chat members.
func privateChat(fact Fact) int {
	switch fact := fact.(type) {
	case ChatSaid:
		return fact.Chat
	case Proposed:
		return fact.Chat
	case AgreedTo:
		return fact.Chat
	case Rejected:
		return fact.Chat
	case Update:
		return fact.Chat
	}
	return 0
}

// Rules 1, 4, 8, 21, 32, 41 and 42. Any inputs lead to the same events again, even if refused inputs are
// omitted and however the time is divided; each Apply checks that money and tokens are conserved; side chats
// stay hidden from outsiders; and every market ends.
func TestRandomMarketsReplayAndEnd(t *testing.T) {
	traded := 0
	rapid.Check(t, func(t *rapid.T) {
		p := newPit(t, crowd...)
		var accepted []Input
		for _, agent := range crowd {
			accepted = append(accepted, Input{At: opens, Agent: agent, Action: Join{Name: agent}})
		}
		// What spectators see follows from the public events.
		followed := p.m.View()
		apply := func(agent string, action Action) {
			in := Input{At: p.now, Agent: agent, Seen: p.m.Shown(agent), Action: action}
			members := map[int][]string{}
			for id, c := range p.m.chats {
				members[id] = c.everyone()
			}
			events, err := p.m.Apply(in)
			if err == nil {
				accepted = append(accepted, in)
			} else {
				require.IsType(t, &Refusal{}, err)
			}
			p.events = append(p.events, events...)
			for _, event := range events {
				if len(event.To) == 0 {
					followed.Observe(event.At, event.Fact)
				}
			}
			view := p.m.View()
			require.Equal(t, view.Agents, followed.Agents)
			require.ElementsMatch(t, view.Chats, followed.Chats)
			require.ElementsMatch(t, view.Countdowns, followed.Countdowns)
			require.Equal(t, []any{view.Phase, view.Price, view.Trades}, []any{followed.Phase, followed.Price, followed.Trades})
			for _, event := range events {
				if chat := privateChat(event.Fact); chat > 0 {
					require.NotEmpty(t, event.To)
					for _, id := range event.To {
						require.True(t, slices.Contains(members[chat], id))
					}
				}
			}
		}
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			pause := rapid.SampledFrom([]int{0, 0, 500, 1000, 1000, 5000, 31_000}).Draw(t, "pause")
			p.now = p.now.Add(time.Duration(pause) * time.Millisecond)
			agent := rapid.SampledFrom(crowd).Draw(t, "who")
			if rapid.IntRange(0, 9).Draw(t, "kind") == 0 {
				// A whole deal: random actions alone hardly ever agree.
				buyer := crowd[(slices.Index(crowd, agent)+1)%len(crowd)]
				apply(agent, Split{20})
				apply(agent, Invite{Agents: []string{buyer}})
				apply(buyer, AcceptInvitation{p.m.chatCount})
				p.now = p.now.Add(time.Second)
				apply(agent, Propose{p.m.chatCount, []Leg{{Seller: agent, Buyer: buyer, Token: Yes, Price: 50, Quantity: 20}}})
				p.now = p.now.Add(time.Second)
				apply(buyer, Agree{p.m.chatCount, 1})
				apply(buyer, Finalize{len(p.m.agreements), p.m.agents[buyer].reviews - rapid.IntRange(0, 1).Draw(t, "old")})
				continue
			}
			action := randomActions(p.m).Draw(t, "action")
			if c := p.m.chats[p.m.chatCount]; c != nil && rapid.Bool().Draw(t, "in turn") {
				agent = c.members[c.turn]
			}
			if rapid.IntRange(0, 19).Draw(t, "official") == 0 {
				agent = rapid.SampledFrom([]string{"operator", "resolver"}).Draw(t, "who")
			}
			apply(agent, action)
		}
		traded += len(factsOf[Traded](p.events))
		p.now = opens.Add(9 * 24 * time.Hour)
		p.do("", nil)
		require.Equal(t, PhaseResolved, p.m.phase)
		require.True(t, p.m.Due().IsZero())
		for _, a := range p.m.order {
			require.Zero(t, a.chats)
			require.Zero(t, a.pending)
		}

		again := newPit(t)
		for _, in := range accepted {
			again.now = in.At.Add(-time.Millisecond)
			if again.now.Before(again.m.now) {
				again.now = again.m.now
			}
			again.do("", nil)
			again.now = in.At
			again.do(in.Agent, in.Action)
		}
		again.now = p.now
		again.do("", nil)
		require.Equal(t, p.events, again.events)
		for i, agent := range crowd {
			require.EqualValues(t, len(seenBy(agent, p.events))-i, p.m.Shown(agent), "it did not see who joined before")
		}
	})
	require.NotZero(t, traded, "no random market had a trade")
}
