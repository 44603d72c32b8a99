package arena

import (
	"slices"
	"time"
)

// Agent returns an agent of the view.
func (v *View) Agent(id string) (AgentView, bool) {
	if a := v.agent(id); a != nil {
		return *a, true
	}
	return AgentView{}, false
}

func (v *View) agent(id string) *AgentView {
	at := slices.IndexFunc(v.Agents, func(a AgentView) bool { return a.ID == id })
	if at < 0 {
		return nil
	}
	return &v.Agents[at]
}

// Copy returns a copy that shares nothing with the view that [View.Observe] changes.
func (v *View) Copy() View {
	c := *v
	c.Agents, c.Chats, c.Countdowns = slices.Clone(v.Agents), slices.Clone(v.Chats), slices.Clone(v.Countdowns)
	for i := range c.Chats {
		c.Chats[i].Members = slices.Clone(c.Chats[i].Members)
	}
	return c
}

// Observe changes the view by the next event. After all public events the view is the market's own. Private events do
// not change it.
func (v *View) Observe(at time.Time, fact Fact) {
	switch f := fact.(type) {
	case Joined:
		v.Agents = append(v.Agents, AgentView{ID: f.Agent, Name: f.Name, Availability: AvailabilityAvailable})
	case Announced:
		if a := v.agent(f.Agent); a != nil {
			a.Availability, a.Record = f.Availability, f.Record
		}
	case Stated:
		if a := v.agent(f.Agent); a != nil {
			a.Interest = f.Interest
		}
	case ChatBegan:
		v.Chats = append(v.Chats, ChatView{Chat: f.Chat, Mode: f.Mode, Members: slices.Clone(f.Agents), Began: at})
		slices.SortFunc(v.Chats, func(a, b ChatView) int { return a.Chat - b.Chat })
	case ChatJoined, ChatLeft, ChatEnded:
		v.observeChat(f)
	case Countdown:
		v.Countdowns = append(v.Countdowns, f)
	case CountdownEnded:
		v.endCountdown(f.Agreement)
	case Traded:
		v.Price, v.Trades = f.Price, v.Trades+1
		v.endCountdown(f.Agreement)
	case Closed:
		v.Phase = PhaseClosed
	case Resolved:
		v.Phase = PhaseResolved
	}
}

func (v *View) endCountdown(agreement int) {
	v.Countdowns = slices.DeleteFunc(v.Countdowns, func(c Countdown) bool { return c.Agreement == agreement })
}

func (v *View) observeChat(fact Fact) {
	chat := func(number int) *ChatView {
		at := slices.IndexFunc(v.Chats, func(c ChatView) bool { return c.Chat == number })
		if at < 0 {
			return &ChatView{} // the chat ended before a public beginning
		}
		return &v.Chats[at]
	}
	switch f := fact.(type) {
	case ChatJoined:
		c := chat(f.Chat)
		c.Members = append(c.Members, f.Agent)
	case ChatLeft:
		c := chat(f.Chat)
		c.Members = slices.DeleteFunc(c.Members, func(id string) bool { return id == f.Agent })
	case ChatEnded:
		v.Chats = slices.DeleteFunc(v.Chats, func(c ChatView) bool { return c.Chat == f.Chat })
	}
}
