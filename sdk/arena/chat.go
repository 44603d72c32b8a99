package arena

import (
	"maps"
	"slices"
	"time"
)

// chat is a side chat.
type chat struct {
	id   int
	mode Mode
	// members lists members in turn order. invited lists agents that have not answered yet.
	members, invited []string
	inviteUntil      time.Time
	// began is when the second member came, if already here.
	began time.Time
	// turn is the index of the current member; the turn lasts from turnFrom until turnUntil. turnShown
	// reports whether it has begun.
	turn                int
	turnFrom, turnUntil time.Time
	turnShown           bool
	// proposals counts the proposals, and standing is the latest one; nil if there is none.
	proposals int
	standing  *proposal
	// said lists the chat's facts so far, for members that join later.
	said []Fact
	// price is the latest price known to the members, and trades the number of trades up to that price.
	price  Price
	trades int
}

// proposal is an offer in a side chat.
type proposal struct {
	number  int
	counter bool
	legs    []Leg
	parties []string
	agreed  []string
	// shown maps members to their event numbers for the proposal.
	shown map[string]uint64
}

// chatsOf returns a member's chats, oldest first.
func (m *Market) chatsOf(id string) (all []*chat) {
	for _, number := range slices.Sorted(maps.Keys(m.chats)) {
		if c := m.chats[number]; slices.Contains(c.members, id) {
			all = append(all, c)
		}
	}
	return all
}

func (m *Market) isInvited(id string) bool {
	for _, c := range m.chats {
		if slices.Contains(c.invited, id) {
			return true
		}
	}
	return false
}

func (m *Market) invite(a *agent, action Invite) error {
	if len(action.Agents) == 0 || len(action.Agents) >= MaxMembers {
		return refuse(CodeMalformed, "agents: must be 1 to %d", MaxMembers-1)
	}
	if action.Mode != ModeTalk && action.Mode != ModePackages {
		return refuse(CodeMalformed, "mode: not known")
	}
	if a.chats >= MaxChats {
		return refuse(CodeLimit, "the agent is in %d side chats", MaxChats)
	}
	for i, id := range action.Agents {
		other := m.agents[id]
		switch {
		case other == nil:
			return refuse(CodeUnknown, "agents: no such agent")
		case id == a.id || slices.Contains(action.Agents[:i], id):
			return refuse(CodeParty, "agents: each only once, and not the inviting one")
		case other.absence != "":
			return refuse(CodeAbsent, "agents: one is %s", other.absence)
		}
	}
	m.chatCount++
	c := &chat{
		id: m.chatCount, mode: action.Mode, members: []string{a.id}, invited: slices.Clone(action.Agents),
		inviteUntil: m.config.Invitation.after(m.now), price: m.price, trades: m.trades,
	}
	m.chats[c.id] = c
	a.chats++
	invited := Invited{Chat: c.id, By: a.id, Agents: slices.Clone(action.Agents), Mode: c.mode, Until: c.inviteUntil}
	m.emit(invited, c.everyone()...)
	return nil
}

// emitInChat sends a fact to the members, and keeps it for members that join later.
func (m *Market) emitInChat(c *chat, fact Fact) {
	c.said = append(c.said, fact)
	m.emit(fact, c.members...)
}

// everyone returns the members and the invited agents.
func (c *chat) everyone() []string { return slices.Concat(c.members, c.invited) }

// invitation returns the chat that invites an agent.
func (m *Market) invitation(a *agent, number int) (*chat, error) {
	c := m.chats[number]
	if c == nil || !slices.Contains(c.invited, a.id) {
		return nil, refuse(CodeUnknown, "chat: no such invitation")
	}
	return c, nil
}

func (m *Market) acceptInvitation(a *agent, action AcceptInvitation) error {
	c, err := m.invitation(a, action.Chat)
	if err != nil {
		return err
	}
	if a.chats >= MaxChats {
		return refuse(CodeLimit, "the agent is in %d side chats", MaxChats)
	}
	c.invited = slices.DeleteFunc(c.invited, func(id string) bool { return id == a.id })
	c.members = append(c.members, a.id)
	a.chats++
	if !c.began.IsZero() {
		a.talking++
		m.emit(ChatJoined{Chat: c.id, Agent: a.id})
		for _, fact := range c.said {
			m.emit(fact, a.id)
		}
		if c.standing != nil {
			c.standing.shown[a.id] = m.shown(a)
		}
		return nil
	}
	m.beginChat(c)
	return nil
}

// beginChat begins a chat if enough members joined.
func (m *Market) beginChat(c *chat) {
	if len(c.members) < 2 || c.mode == ModePackages && len(c.invited) > 0 {
		return
	}
	c.began = m.now
	for _, id := range c.members {
		m.agents[id].talking++
	}
	m.emit(ChatBegan{Chat: c.id, Agents: slices.Clone(c.members), Mode: c.mode})
	m.setTurn(c, 0)
}

func (m *Market) declineInvitation(a *agent, action DeclineInvitation) error {
	c, err := m.invitation(a, action.Chat)
	if err == nil {
		m.endInvitation(c, a.id)
	}
	return err
}

// endInvitation removes an invited agent, and ends a chat that nobody else can join.
func (m *Market) endInvitation(c *chat, id string) {
	m.emit(InvitationEnded{Chat: c.id, Agent: id}, c.everyone()...)
	c.invited = slices.DeleteFunc(c.invited, func(other string) bool { return other == id })
	switch {
	case len(c.members) < 2 && len(c.invited) == 0:
		m.endChat(c, CauseNobody)
	case c.began.IsZero():
		m.beginChat(c)
	}
}

// setTurn gives the next turn to a member.
func (m *Market) setTurn(c *chat, turn int) {
	c.turn, c.turnShown = turn%len(c.members), false
	c.turnFrom = m.config.Pace.after(m.now)
	c.turnUntil = m.config.ChatTurn.after(c.turnFrom)
}

// member returns a member's chat if it is the member's turn.
func (m *Market) member(a *agent, number int) (*chat, error) {
	c := m.chats[number]
	switch {
	case c == nil || !slices.Contains(c.members, a.id):
		return nil, refuse(CodeUnknown, "chat: the agent is in no such chat")
	case c.began.IsZero() || !c.turnShown || c.members[c.turn] != a.id:
		return nil, refuse(CodeTurn, "it is not the agent's turn")
	}
	return c, nil
}

func (m *Market) chat(a *agent, action Chat) error {
	c, err := m.member(a, action.Chat)
	switch {
	case err != nil:
		return err
	case c.mode == ModePackages:
		return refuse(CodeMalformed, "chat: it takes packages only")
	case action.Text == "" || len(action.Text) > MaxText:
		return refuse(CodeMalformed, "text: must have 1 to %d bytes", MaxText)
	}
	m.emitInChat(c, ChatSaid{Chat: c.id, Agent: a.id, Text: action.Text})
	m.setTurn(c, c.turn+1)
	return nil
}

func (m *Market) leaveChat(a *agent, action LeaveChat) error {
	c := m.chats[action.Chat]
	if c == nil || !slices.Contains(c.members, a.id) {
		return refuse(CodeUnknown, "chat: the agent is in no such chat")
	}
	m.removeFromChat(c, a.id, CauseLeft)
	return nil
}

// removeFromChat removes a member, and ends a chat with fewer than two. A silent member ends the chat for all
// members.
func (m *Market) removeFromChat(c *chat, id string, cause Cause) {
	if c.began.IsZero() || len(c.members) <= 2 || cause == CauseSilent {
		m.endChat(c, cause)
		return
	}
	at := slices.Index(c.members, id)
	c.members = slices.Delete(c.members, at, at+1)
	m.agents[id].chats--
	m.agents[id].talking--
	m.emit(ChatLeft{Chat: c.id, Agent: id})
	if c.standing != nil && slices.Contains(c.standing.parties, id) {
		c.standing = nil
	}
	switch {
	case at < c.turn:
		c.turn--
	case at == c.turn:
		m.setTurn(c, c.turn)
	}
}

// endChat removes a chat. Chats that did not begin are not public.
func (m *Market) endChat(c *chat, cause Cause) {
	delete(m.chats, c.id)
	for _, id := range c.members {
		m.agents[id].chats--
		if !c.began.IsZero() {
			m.agents[id].talking--
		}
	}
	if c.began.IsZero() {
		m.emit(ChatEnded{Chat: c.id, Cause: cause}, c.everyone()...)
		return
	}
	m.emit(ChatEnded{Chat: c.id, Duration: NewDuration(m.now.Sub(c.began)), Cause: cause})
}

// updateChats informs side chat members about the trades since their latest update, if the price has moved.
func (m *Market) updateChats() {
	for _, number := range slices.Sorted(maps.Keys(m.chats)) {
		c := m.chats[number]
		if max(m.price, c.price)-min(m.price, c.price) < m.config.Move {
			continue
		}
		m.emit(Update{Chat: c.id, Token: Yes, Was: c.price, Now: m.price, Trades: m.trades - c.trades}, c.members...)
		c.price, c.trades = m.price, m.trades
	}
}
