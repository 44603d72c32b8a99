package arena

import (
	"maps"
	"slices"
	"time"
)

// View is what everybody sees of a market at a time.
type View struct {
	// Config describes the market, without its seed.
	Config Config      `json:"config"`
	Phase  Phase       `json:"phase"`
	Price  Price       `json:"price"`
	Trades int         `json:"trades"`
	Agents []AgentView `json:"agents"`
	// Chats are the side chats that have begun, in the order of their numbers.
	Chats []ChatView `json:"chats,omitempty"`
	// Countdowns are those of the tentative agreements, in the order of their numbers.
	Countdowns []Countdown `json:"countdowns,omitempty"`
}

// ChatView is what everybody sees of a side chat.
type ChatView struct {
	Chat    int       `json:"chat"`
	Mode    Mode      `json:"mode,omitempty"`
	Members []string  `json:"members"`
	Began   time.Time `json:"began"`
}

// AgentView is what everybody sees of an agent.
type AgentView struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Availability Availability `json:"availability"`
	Interest     Interest     `json:"interest"`
	Record       Record       `json:"record"`
}

// View returns the public state. The interests are the soft order book.
func (m *Market) View() View {
	v := View{Config: m.config, Phase: m.phase, Price: m.price, Trades: m.trades, Agents: []AgentView{}}
	v.Config.Seed = [32]byte{}
	for _, a := range m.order {
		v.Agents = append(v.Agents, AgentView{
			ID: a.id, Name: a.name, Availability: a.availability(), Interest: a.interest, Record: a.record,
		})
	}
	for _, number := range slices.Sorted(maps.Keys(m.chats)) {
		if c := m.chats[number]; !c.began.IsZero() {
			v.Chats = append(v.Chats, ChatView{Chat: c.id, Mode: c.mode, Members: slices.Clone(c.members), Began: c.began})
		}
	}
	for _, a := range m.open {
		v.Countdowns = append(v.Countdowns, a.countdown())
	}
	return v
}

// Review returns an agent's own state. Its number is that of the latest review that was sent.
func (m *Market) Review(agent string) (Review, bool) {
	a := m.agents[agent]
	if a == nil {
		return Review{}, false
	}
	return m.reviewOf(a), true
}

// OwnChat is a side chat as a member sees it, without its texts.
type OwnChat struct {
	Chat    int      `json:"chat"`
	Mode    Mode     `json:"mode,omitempty"`
	Members []string `json:"members"`
	// Invited have not replied yet.
	Invited []string `json:"invited,omitempty"`
	// Began is the time when the second member came; zero before.
	Began time.Time `json:"began,omitzero"`
	// Proposal is the standing proposal, and Agreed are the parties that have agreed to it; nil if there is none.
	Proposal *Proposed `json:"proposal,omitempty"`
	Agreed   []string  `json:"agreed,omitempty"`
	// Turn is the current turn; nil between turns.
	Turn *Turn `json:"turn,omitempty"`
}

// ChatsOf returns the side chats of an agent, and its open invitations, in the order of their numbers.
func (m *Market) ChatsOf(agent string) (chats []OwnChat, invitations []Invited) {
	for _, number := range slices.Sorted(maps.Keys(m.chats)) {
		c := m.chats[number]
		switch {
		case slices.Contains(c.invited, agent):
			invitations = append(invitations, Invited{
				Chat: c.id, By: c.members[0], Agents: slices.Clone(c.invited), Mode: c.mode, Until: c.inviteUntil,
			})
		case slices.Contains(c.members, agent):
			chats = append(chats, c.own())
		}
	}
	return chats, invitations
}

func (c *chat) own() OwnChat {
	own := OwnChat{
		Chat: c.id, Mode: c.mode, Members: slices.Clone(c.members), Invited: slices.Clone(c.invited), Began: c.began,
	}
	if p := c.standing; p != nil {
		own.Proposal = &Proposed{Chat: c.id, Proposal: p.number, Agent: p.agreed[0], Counter: p.counter, Legs: p.legs}
		own.Agreed = slices.Clone(p.agreed)
	}
	if c.turnShown {
		own.Turn = &Turn{Agent: c.members[c.turn], Chat: c.id, Until: c.turnUntil}
	}
	return own
}
