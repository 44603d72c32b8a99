package arena

// Availability is what everybody sees of an agent.
type Availability string

// The availabilities. All but the last two can be invited.
const (
	AvailabilityAvailable    Availability = "available"
	AvailabilityBusy         Availability = "busy"
	AvailabilityPending      Availability = "pending"
	AvailabilityLeft         Availability = "left"
	AvailabilityUnresponsive Availability = "unresponsive"
)

// Record is the public record of an agent: numbers of agreements, and of turns.
type Record struct {
	// Finalized were executed, Cancelled were cancelled by this agent, Expired ended without a decision, and Failed
	// because this agent had too little.
	Finalized int `json:"finalized"`
	Cancelled int `json:"cancelled"`
	Expired   int `json:"expired"`
	Failed    int `json:"failed"`
	// Silent counts turns in side chats that the agent did not use.
	Silent int `json:"silent"`
}

// agent is an agent of a market.
type agent struct {
	id, name string
	// absence is left or unresponsive, or empty.
	absence  Availability
	interest Interest
	record   Record
	// mentioned reports whether the agent was mentioned since its latest turn on the floor.
	mentioned bool
	// chats is the number of the agent's side chats, those included that have not begun.
	chats int
	// talking is the number of those that have begun.
	talking int
	// pending is the number of its tentative agreements, and reviews that of its reviews.
	pending, reviews int
	// before is the number of public events before it joined, and private that of its private events.
	before, private uint64
	// seen is the number of the latest event that it had seen at its current action, and reviewed that of its latest
	// review.
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

// announce tells everybody of agents whose availability or record has changed.
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

// leave removes an agent from the floor and from all side chats. Its tentative agreements remain.
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

// transfer moves money of an agent into the market or out of it.
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

// emitHolding tells an agent its new holding.
func (m *Market) emitHolding(id string) {
	m.touch(id)
	m.emit(Changed{Agent: id, Holding: m.ledger.Holding(id)}, id)
}
