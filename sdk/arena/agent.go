package arena

// Availability is an agent's public state.
type Availability string

// The availabilities. All but the last two can be invited.
const (
	AvailabilityAvailable    Availability = "available"
	AvailabilityBusy         Availability = "busy"
	AvailabilityPending      Availability = "pending"
	AvailabilityLeft         Availability = "left"
	AvailabilityUnresponsive Availability = "unresponsive"
)

// Record is an agent's public record: agreement and turn counts.
type Record struct {
	// Finalized agreements were executed, Cancelled ones were cancelled by this agent, Expired ended
	// undecided, and Failed because this agent held too little.
	Finalized int `json:"finalized"`
	Cancelled int `json:"cancelled"`
	Expired   int `json:"expired"`
	Failed    int `json:"failed"`
	// Silent counts turns in side chats that the agent did not use.
	Silent int `json:"silent"`
}

// agent is a market's agent.
type agent struct {
	id, name string
	// absence is left or unresponsive, or empty.
	absence  Availability
	interest Interest
	record   Record
	// mentioned reports whether the agent was mentioned since the latest floor turn.
	mentioned bool
	// chats is the number of the agent's side chats, those included that have not begun.
	chats int
	// talking is the number of those that have begun.
	talking int
	// pending and reviews count the agent's tentative agreements and reviews.
	pending, reviews int
	// before counts the public events until joining, and private the agent's private events.
	before, private uint64
	// seen is the latest event's number known to the agent for the current action, and reviewed the latest
	// review's number.
	seen, reviewed uint64
	// announced is what others have learned of availability and record.
	announced Announced
}

func (a *agent) availability() Availability {
	switch {
	case a.absence != "":
		return a.absence
	case a.pending > 0:
		return AvailabilityPending
	case a.talking > 0:
		return AvailabilityBusy
	}
	return AvailabilityAvailable
}

// announce publishes changes of agents' availability or record.
func (m *Market) announce() {
	for _, a := range m.order {
		if now := (Announced{Agent: a.id, Availability: a.availability(), Record: a.record}); now != a.announced {
			a.announced = now
			m.emit(now)
		}
	}
}

func (m *Market) join(id string, action Join) error {
	switch {
	case m.phase != PhaseOpen:
		return refuse(CodeClosed, "the market is closed")
	case !isName(id) || !isName(action.Name):
		return refuse(CodeMalformed, "agent, name: must have 1 to %d bytes", MaxName)
	case m.agents[id] != nil:
		return refuse(CodeParty, "agent: has joined")
	case len(m.agents) >= m.config.MaxAgents:
		return refuse(CodeLimit, "the market has %d agents", len(m.agents))
	}
	if err := m.ledger.deposit(id, m.config.Grant); err != nil {
		return err
	}
	a := &agent{
		id: id, name: action.Name, before: m.public, announced: Announced{Agent: id, Availability: AvailabilityAvailable},
	}
	m.agents[id] = a
	m.order = append(m.order, a)
	m.floor.wake(m.now, m.config)
	m.emit(Joined{Agent: id, Name: action.Name, Grant: m.config.Grant})
	return nil
}

// connect returns an unresponsive agent to the floor.
func (m *Market) connect(a *agent) error {
	switch a.absence {
	case AvailabilityUnresponsive:
	case "":
		return nil
	default:
		return refuse(CodeAbsent, "agent: has left")
	}
	a.absence = ""
	m.floor.wake(m.now, m.config)
	m.emit(Connected{a.id})
	return nil
}

// leave removes an agent from the floor and all side chats. Tentative agreements remain.
func (m *Market) leave(a *agent, as Availability) {
	a.absence = as
	m.emit(Left{Agent: a.id, Unresponsive: as == AvailabilityUnresponsive})
	cause := CauseLeft
	if as == AvailabilityUnresponsive {
		cause = CauseSilent
	}
	for _, c := range m.chatsOf(a.id) {
		m.removeFromChat(c, a.id, cause)
	}
	if m.floor.speaker == a.id {
		m.endFloorTurn()
	}
}

func (m *Market) state(a *agent, action State) error {
	i := action.Interest
	switch {
	case len(i.Message) > MaxText:
		return refuse(CodeMalformed, "message: longer than %d bytes", MaxText)
	case i.Interested != (i.Want != nil):
		return refuse(CodeMalformed, "want: required if the agent is interested, and only then")
	case i.Want != nil && (!i.Want.isValid() || i.Want.Price == 0):
		return refuse(CodeMalformed, "want: side, token, price or quantity out of range")
	}
	a.interest = i
	m.emit(Stated{Agent: a.id, Interest: i})
	return nil
}

func (m *Market) changeSets(a *agent, change func(string, Quantity) error, sets Quantity) error {
	if err := change(a.id, sets); err != nil {
		return err
	}
	m.emitHolding(a.id)
	return nil
}

// transfer moves an agent's money into or out of the market.
func (m *Market) transfer(by string, move func(string, Money) error, id string, amount Money) error {
	switch {
	case by != m.config.Operator:
		return refuse(CodeParty, "only the operator deposits and withdraws")
	case m.agents[id] == nil:
		return refuse(CodeUnknown, "agent: has not joined")
	case amount == 0:
		return refuse(CodeMalformed, "amount: must not be zero")
	}
	if err := move(id, amount); err != nil {
		return err
	}
	m.emitHolding(id)
	return nil
}

// emitHolding reports the new holding to an agent.
func (m *Market) emitHolding(id string) {
	m.touch(id)
	m.emit(Changed{Agent: id, Holding: m.ledger.Holding(id)}, id)
}
