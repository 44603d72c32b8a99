package bargain

// A strategy divides into three parts: which outcome to offer (bidding), which offer to accept (acceptance),
// and what the other party wants (opponent model). This is the BOA architecture: Baarslag et al., Decoupling
// Negotiating Agents to Explore the Space of Negotiation Strategies (2014).

// Bidding is an immutable description of a way to choose offers.
type Bidding interface {
	// Bidder returns the bidder of one session. The model is nil if the strategy has none.
	Bidder(seat Seat, model Model) Bidder
}

// Bidder chooses the offers of one session.
type Bidder interface {
	// Next returns the offer for this turn, or [NoOutcome] to end the session. It is called at most once for
	// each turn, and its offer need not be made: see Sent.
	Next(state *State) Outcome
	// Sent records that the last result of Next has been offered, and returns the reason of that offer, a
	// constant: see [Action]. A method of its own for it would be a further call in each round.
	Sent(o Outcome) (reason string)
}

// Acceptance is an immutable description of a condition to accept offers.
type Acceptance interface {
	// Acceptor returns the acceptor of one session.
	Acceptor(seat Seat) Acceptor
}

// Acceptor decides in one session whether to accept the standing offer.
type Acceptor interface {
	// Accepts reports whether to accept state.Offer, which is never [NoOutcome].
	Accepts(state *State, plan Plan) bool
	// Reason returns why the last result of Accepts was true, a constant: see [Action].
	Reason() string
}

// Plan is what a party would do if it did not accept.
type Plan interface {
	// Next returns the party's next offer, or [NoOutcome].
	Next() Outcome
}

// Modeling is an immutable description of an opponent model.
type Modeling interface {
	// Model returns the model of one session.
	Model(seat Seat) Model
}

// Model estimates the utility of the other parties, from 0 to 1.
type Model interface {
	Utility
	// Observe learns from an offer of another party. It is called once for each offer, in their order.
	Observe(offer Offer)
}

// BOA is a strategy that is composed of its parts.
type BOA struct {
	Bidding Bidding
	// Acceptance is the condition to accept. If nil, the bidder itself decides. Then it must implement
	// [Acceptor], as those of bidding.TimeDependent, bidding.MiCRO and bidding.NaiveTitForTat do.
	Acceptance Acceptance
	// Modeling is the opponent model. If nil, there is none.
	Modeling Modeling
}

// Start returns the negotiator of one session. It panics if Acceptance is nil and the bidder does not
// implement [Acceptor].
func (b BOA) Start(seat Seat) Negotiator {
	n := &boa{self: seat.Self}
	if b.Modeling != nil {
		n.model = newModel(b.Modeling, seat)
	}
	n.bidder = b.Bidding.Bidder(seat, n.model)
	if b.Acceptance != nil {
		n.acceptor = b.Acceptance.Acceptor(seat)
	} else {
		n.acceptor = n.bidder.(Acceptor)
	}
	return n
}

type boa struct {
	self     int
	bidder   Bidder
	acceptor Acceptor
	model    Model
	observed int
	state    *State
	planned  bool
	next     Outcome
}

// Next implements Plan.
func (b *boa) Next() Outcome {
	if !b.planned {
		b.planned, b.next = true, b.bidder.Next(b.state)
	}
	return b.next
}

// Respond accepts, or makes the bidder's offer.
func (b *boa) Respond(state *State) Action {
	b.state, b.planned = state, false
	if b.model != nil {
		for ; b.observed < len(state.History); b.observed++ {
			if offer := state.History[b.observed]; offer.By != b.self {
				b.model.Observe(offer)
			}
		}
	}
	if state.Offer != NoOutcome && state.By != b.self && b.acceptor.Accepts(state, b) {
		return Accept(b.acceptor.Reason())
	}
	next := b.Next()
	if next == NoOutcome {
		return End("no outcome to offer reaches the reservation value")
	}
	return Propose(next, b.bidder.Sent(next))
}

// Own returns a party's own offer, counted back from its last one, which is 0.
func (s *State) Own(self, back int) (Offer, bool) {
	return s.find(back, func(by int) bool { return by == self })
}

// Others returns an offer of the party that made the latest offer of another party, counted back from this offer,
// which is 0. Two offers of one party show its concession, while offers of two parties show nothing.
func (s *State) Others(self, back int) (Offer, bool) {
	latest, ok := s.find(0, func(by int) bool { return by != self })
	if !ok || back == 0 {
		return latest, ok
	}
	return s.find(back, func(by int) bool { return by == latest.By })
}

func (s *State) find(back int, is func(by int) bool) (Offer, bool) {
	for at := len(s.History) - 1; at >= 0; at-- {
		if !is(s.History[at].By) {
			continue
		}
		if back == 0 {
			return s.History[at], true
		}
		back--
	}
	return Offer{}, false
}
