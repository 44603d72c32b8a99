package arena

import (
	"encoding/hex"
	"maps"
	"slices"
	"time"
)

// Phase is a market phase.
type Phase string

// The phases.
const (
	PhaseOpen     Phase = "open"
	PhaseClosed   Phase = "closed"
	PhaseResolved Phase = "resolved"
)

// Market is a market's state. It is not safe for concurrent use.
type Market struct {
	config Config
	now    time.Time
	phase  Phase
	ledger Ledger
	agents map[string]*agent
	// order lists the agents in joining order.
	order []*agent
	floor floor
	// price is the latest price of YES, trades the number of trades.
	price      Price
	trades     int
	chats      map[int]*chat
	chatCount  int
	agreements map[int]*Agreement
	// open lists the tentative agreements, oldest first.
	open []*Agreement

	// events holds the current input's events, and review the agents with a changed review.
	events []Event
	review map[string]bool
	// public is the number of public events.
	public uint64
}

// New returns an opening market.
func New(config Config) (*Market, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Market{
		config: config, now: config.Opens, phase: PhaseOpen, ledger: newLedger(), agents: map[string]*agent{},
		price: FirstPrice, chats: map[int]*chat{}, agreements: map[int]*Agreement{}, review: map[string]bool{},
	}, nil
}

// Apply changes the market. It returns the events caused by the elapsed time and by the action. If it returns
// a [*Refusal], the action changed nothing, and all events were caused by time. How time is divided among
// inputs does not matter, so refused inputs need not be kept.
//
// Any other error means that money or tokens were created or lost: the market must not continue.
func (m *Market) Apply(in Input) (events []Event, err error) {
	if in.At.Before(m.now) {
		return nil, refuse(CodeTime, "before the latest input")
	}
	m.events = nil
	m.advance(in.At)
	m.now = in.At
	if in.Action != nil {
		if err = m.act(in); err == nil {
			m.announce()
			m.sendReviews()
		}
	}
	if broken := m.ledger.check(); broken != nil {
		return m.events, broken
	}
	return m.events, err
}

// act checks an action completely before changing anything.
func (m *Market) act(in Input) error {
	id, action := in.Agent, in.Action
	switch action := action.(type) {
	case Resolve:
		if id != m.config.Resolver {
			return refuse(CodeParty, "only the resolver resolves")
		}
		return m.resolve(action)
	case Deposit:
		return m.transfer(id, m.ledger.deposit, action.Agent, action.Amount)
	case Withdraw:
		return m.transfer(id, m.ledger.withdraw, action.Agent, action.Amount)
	case Join:
		return m.join(id, action)
	}
	a := m.agents[id]
	switch {
	case a == nil:
		return refuse(CodeUnknown, "agent: has not joined")
	case m.phase != PhaseOpen:
		return refuse(CodeClosed, "the market is closed")
	}
	if in.Seen > m.shown(a) {
		return refuse(CodeChanged, "seen: the agent had not so many events")
	}
	a.seen = in.Seen
	if _, is := action.(Connect); is {
		return m.connect(a)
	}
	if a.absence != "" {
		return refuse(CodeAbsent, "agent: %s", a.absence)
	}
	switch action := action.(type) {
	case Leave:
		m.leave(a, AvailabilityLeft)
	case State:
		return m.state(a, action)
	case Split:
		return m.changeSets(a, m.ledger.split, action.Sets)
	case Merge:
		return m.changeSets(a, m.ledger.merge, action.Sets)
	case Say:
		return m.say(a, action)
	case Pass:
		return m.pass(a)
	case Invite:
		return m.invite(a, action)
	case AcceptInvitation:
		return m.acceptInvitation(a, action)
	case DeclineInvitation:
		return m.declineInvitation(a, action)
	case Chat:
		return m.chat(a, action)
	case Propose:
		return m.propose(a, action)
	case Counter:
		return m.counter(a, action)
	case Agree:
		return m.agree(a, action)
	case Reject:
		return m.reject(a, action)
	case LeaveChat:
		return m.leaveChat(a, action)
	case Finalize:
		return m.finalize(a, action)
	case Cancel:
		return m.cancel(a, action)
	default:
		return refuse(CodeMalformed, "action: not known")
	}
	return nil
}

// emit adds an event for agents, or for all if there are none.
func (m *Market) emit(fact Fact, to ...string) {
	if len(to) == 0 {
		m.public++
	}
	for _, id := range to {
		m.agents[id].private++
	}
	m.events = append(m.events, Event{At: m.now, To: slices.Sorted(slices.Values(to)), Fact: fact})
}

// Shown returns the number of events sent to an agent since joining, including the joining event. The n-th
// event is numbered n.
func (m *Market) Shown(agent string) uint64 {
	if a := m.agents[agent]; a != nil {
		return m.shown(a)
	}
	return 0
}

func (m *Market) shown(a *agent) uint64 { return m.public - a.before + a.private }

// touch marks agents with changed money, tokens or agreements.
func (m *Market) touch(agents ...string) {
	for _, id := range agents {
		m.review[id] = true
	}
}

// resolve ends the market with the resolver's decision.
func (m *Market) resolve(action Resolve) error {
	switch {
	case m.phase != PhaseClosed:
		return refuse(CodeClosed, "the market is %s", m.phase)
	case action.Outcome != OutcomeYes && action.Outcome != OutcomeNo && action.Outcome != OutcomeVoid:
		return refuse(CodeMalformed, "outcome: must be YES, NO or VOID")
	}
	m.payOut(action.Outcome)
	return nil
}

func (m *Market) payOut(outcome Outcome) {
	m.phase = PhaseResolved
	m.ledger.pay(outcome)
	m.emit(Resolved{Outcome: outcome, Seed: hex.EncodeToString(m.config.Seed[:])})
	for _, a := range m.order {
		m.emitHolding(a.id)
	}
}

// close ends the trading: all side chats end, and all tentative agreements are void.
func (m *Market) close() {
	m.phase, m.floor = PhaseClosed, floor{}
	for _, id := range slices.Sorted(maps.Keys(m.chats)) {
		m.endChat(m.chats[id], CauseClosed)
	}
	for _, a := range slices.Clone(m.open) {
		m.void(a, CauseClosed, "")
	}
	m.emit(Closed{})
}
