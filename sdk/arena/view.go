package arena

import (
	"maps"
	"slices"
	"time"
)

// View is a market's public state.
type View struct {
	// Config describes the market, but omits the seed.
	Config Config      `json:"config"`
	Phase  Phase       `json:"phase"`
	Price  Price       `json:"price"`
	Trades int         `json:"trades"`
	Agents []AgentView `json:"agents"`
	// Chats lists the side chats that have begun, sorted by number.
	Chats []ChatView `json:"chats,omitempty"`
	// Countdowns lists the tentative agreements' countdowns, sorted by number.
	Countdowns []Countdown `json:"countdowns,omitempty"`
}

// ChatView is a side chat's public state.
type ChatView struct {
	Chat    int       `json:"chat"`
	Mode    Mode      `json:"mode,omitempty"`
	Members []string  `json:"members"`
	Began   time.Time `json:"began"`
}

// AgentView is an agent's public state.
type AgentView struct {
	ID           string       `json:"id"`
	Name         string       `json:"name"`
	Availability Availability `json:"availability"`
	Interest     Interest     `json:"interest"`
	Record       Record       `json:"record"`
}

// View returns the public state. The interests form the soft order book.
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

// Review returns an agent's own state, with the number of the latest sent review.
func (m *Market) Review(agent string) (Review, bool) {
	a := m.agents[agent]
	if a == nil {
		return Review{}, false
	}
	return m.reviewOf(a), true
}

// OwnChat is a member's view of a side chat, excluding texts.
type OwnChat struct {
	Chat    int      `json:"chat"`
	Mode    Mode     `json:"mode,omitempty"`
	Members []string `json:"members"`
	// Invited have not replied yet.
	Invited []string `json:"invited,omitempty"`
	// Began is when the second member came, if already here.
	Began time.Time `json:"began,omitzero"`
	// Proposal is the standing proposal, or nil, and Agreed lists the parties that have agreed to it.
	Proposal *Proposed `json:"proposal,omitempty"`
	Agreed   []string  `json:"agreed,omitempty"`
	// Turn is the current turn; nil between turns.
	Turn *Turn `json:"turn,omitempty"`
}

// ChatsOf returns an agent's side chats and open invitations, sorted by number.
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
