package arena

import "slices"

// partiesOf returns the sellers and buyers in a sale or chain, in chain order.
func partiesOf(legs []Leg) ([]string, error) {
	if len(legs) == 0 || len(legs) >= MaxMembers {
		return nil, refuse(CodeMalformed, "legs: must be 1 to %d", MaxMembers-1)
	}
	parties := []string{legs[0].Seller}
	for i, leg := range legs {
		switch {
		case !leg.isValid():
			return nil, refuse(CodeMalformed, "legs: token, price or quantity out of range")
		case i > 0 && leg.Seller != legs[i-1].Buyer:
			return nil, refuse(CodeMalformed, "legs: each buyer must sell in the next leg")
		case slices.Contains(parties, leg.Buyer):
			return nil, refuse(CodeParty, "legs: an agent cannot trade with itself")
		}
		parties = append(parties, leg.Buyer)
	}
	return parties, nil
}

// partiesOfPackage returns a package's sellers and buyers, once each.
func partiesOfPackage(legs []Leg) (parties []string, err error) {
	if len(legs) == 0 || len(legs) > MaxLegs {
		return nil, refuse(CodeMalformed, "legs: must be 1 to %d", MaxLegs)
	}
	for _, leg := range legs {
		if !leg.isValid() {
			return nil, refuse(CodeMalformed, "legs: token, price or quantity out of range")
		}
		if leg.Seller == leg.Buyer {
			return nil, refuse(CodeParty, "legs: an agent cannot trade with itself")
		}
		for _, id := range []string{leg.Seller, leg.Buyer} {
			if !slices.Contains(parties, id) {
				parties = append(parties, id)
			}
		}
	}
	return parties, nil
}

func (m *Market) propose(a *agent, action Propose) error {
	c, err := m.member(a, action.Chat)
	switch {
	case err != nil:
		return err
	case c.standing != nil:
		return refuse(CodeChanged, "chat: a proposal stands: counter it")
	}
	return m.offer(a, c, action.Legs, false)
}

func (m *Market) counter(a *agent, action Counter) error {
	c, err := m.standing(a, action.Chat, action.Proposal)
	if err != nil {
		return err
	}
	return m.offer(a, c, action.Legs, true)
}

// standing returns the chat if the number matches the standing proposal.
func (m *Market) standing(a *agent, chat, number int) (*chat, error) {
	c, err := m.member(a, chat)
	switch {
	case err != nil:
		return nil, err
	case c.standing == nil || c.standing.number != number || a.seen < c.standing.shown[a.id]:
		return nil, refuse(CodeChanged, "proposal: not the standing one")
	}
	return c, nil
}

// offer replaces the standing proposal.
func (m *Market) offer(a *agent, c *chat, legs []Leg, isCounter bool) error {
	find := partiesOf
	if c.mode == ModePackages {
		find = partiesOfPackage
	}
	parties, err := find(legs)
	switch {
	case err != nil:
		return err
	case c.mode == ModePackages && len(parties) < len(c.members):
		return refuse(CodeParty, "legs: a member is no party of the package")
	case !slices.Contains(parties, a.id):
		return refuse(CodeParty, "legs: the agent is no party")
	}
	for _, id := range parties {
		if !slices.Contains(c.members, id) {
			return refuse(CodeParty, "legs: a party is not in the chat")
		}
	}
	c.proposals++
	c.standing = &proposal{
		number: c.proposals, counter: isCounter, legs: slices.Clone(legs), parties: parties, agreed: []string{a.id},
		shown: map[string]uint64{},
	}
	m.emitInChat(c, Proposed{Chat: c.id, Proposal: c.proposals, Agent: a.id, Counter: isCounter, Legs: c.standing.legs})
	for _, id := range c.members {
		c.standing.shown[id] = m.shown(m.agents[id])
	}
	m.setTurn(c, c.turn+1)
	return nil
}

func (m *Market) agree(a *agent, action Agree) error {
	c, err := m.standing(a, action.Chat, action.Proposal)
	switch {
	case err != nil:
		return err
	case !slices.Contains(c.standing.parties, a.id):
		return refuse(CodeParty, "proposal: the agent is no party")
	case slices.Contains(c.standing.agreed, a.id):
		return refuse(CodeParty, "proposal: the agent has agreed")
	}
	c.standing.agreed = append(c.standing.agreed, a.id)
	m.emitInChat(c, AgreedTo{Chat: c.id, Proposal: action.Proposal, Agent: a.id})
	if len(c.standing.agreed) < len(c.standing.parties) {
		m.setTurn(c, c.turn+1)
		return nil
	}
	m.endChat(c, CauseAgreed)
	m.tentative(c)
	return nil
}

// reject walks away from the standing proposal.
func (m *Market) reject(a *agent, action Reject) error {
	c, err := m.standing(a, action.Chat, action.Proposal)
	if err != nil {
		return err
	}
	m.emitInChat(c, Rejected{Chat: c.id, Proposal: action.Proposal, Agent: a.id})
	c.standing = nil
	m.removeFromChat(c, a.id, CauseRejected)
	return nil
}
