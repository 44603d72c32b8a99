package bargain

// A strategy consists of three parts: choosing offers (bidding), accepting offers (acceptance), and
// estimating the opponent's utility (opponent model). This is the BOA architecture: Baarslag et al.,
// Decoupling Negotiating Agents to Explore the Space of Negotiation Strategies (2014).

// Bidding describes how to choose offers. It is immutable.
type Bidding interface {
	// Bidder returns a bidder for a single session. model is nil if the strategy uses none.
	Bidder(seat Seat, model Model) Bidder
}

// Bidder chooses the offers in a session.
type Bidder interface {
	// Next returns the offer for this turn, or [NoOutcome] to end the session. It is called no more than once
	// per turn, and the returned offer need not be made: see Sent.
	Next(state *State) Outcome
	// Sent records that Next's last result has been offered, and returns the reason for the offer, a
	// constant: see [Action]. A separate method for the reason would cost a further call per round.
	Sent(o Outcome) (reason string)
}

// Acceptance describes a condition for accepting offers. It is immutable.
type Acceptance interface {
	// Acceptor returns an acceptor for a single session.
	Acceptor(seat Seat) Acceptor
}

// Acceptor decides in a session whether to accept the standing offer.
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

// Modeling describes an opponent model. It is immutable.
type Modeling interface {
	// Model returns a model for a single session.
	Model(seat Seat) Model
}

// Model estimates the opponents' utility, between 0 and 1.
type Model interface {
	Utility
	// Observe learns from an offer of another party. It is called once for each offer, in their order.
	Observe(offer Offer)
}

// BOA is a strategy composed of bidding, acceptance and opponent model.
type BOA struct {
	Bidding Bidding
	// Acceptance is the condition for accepting. If nil, the bidder itself decides, and must implement
	// [Acceptor], as the bidders of bidding.TimeDependent, bidding.MiCRO and bidding.NaiveTitForTat do.
	Acceptance Acceptance
	// Modeling is the opponent model. If nil, there is none.
	Modeling Modeling
}

// Start returns a negotiator for a single session. It panics if Acceptance is nil and the bidder does not
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

// Own returns a party's own offer, counted back from the party's last offer, number 0.
func (s *State) Own(self, back int) (Offer, bool) {
	return s.find(back, func(by int) bool { return by == self })
}

// Others returns an offer by the opponent that made the latest opponent offer, counted back from this offer,
// number 0. Two offers by the same party show a concession; offers by different parties show nothing.
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
