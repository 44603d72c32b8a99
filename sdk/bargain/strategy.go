package bargain

import "github.com/haggle-protocol/haggle/sdk/bargain/fixed"

// Strategy is a way to negotiate: an immutable value that several sessions and goroutines can use.
type Strategy interface {
	// Start returns a negotiator for a single session.
	Start(seat Seat) Negotiator
}

// Negotiator is a party in a session.
type Negotiator interface {
	// Respond returns the party's move for the current turn. The state belongs to the protocol: a negotiator
	// must not keep or change it.
	Respond(state *State) Action
}

// Seat is what a party knows when a session starts.
type Seat struct {
	// Preferences holds the party's own preferences.
	Preferences *Preferences
	// Self is the party's number, from 0 in turn order. Parties is the number of parties.
	Self, Parties int
	// Steps is the number of steps until the deadline; 0 if only time limits the session.
	Steps int
	// Random is the party's own source of random numbers.
	Random *Random
	// Opening is the start utility for strategies with a curve. If zero, the best outcome's utility is used.
	Opening fixed.Number
	// Step is the minimum utility difference between offers for strategies that concede rank by rank. If
	// zero, every outcome is a separate rank.
	Step fixed.Number
}

// Range returns the party's concession range: the lowest rational utility and the opening. It returns false
// if no outcome is rational.
func (s *Seat) Range() (least, most fixed.Number, ok bool) {
	least, most, ok = s.Preferences.Range()
	if s.Opening != 0 && ok {
		most = s.Opening.Clamp(least, most)
	}
	return least, most, ok
}

// State is a session's state at a party's turn.
type State struct {
	// Step is the step number, from 0. In a step every party takes a single turn.
	Step int
	// Steps is the number of steps until the deadline; 0 if only time limits the session.
	Steps int
	// Time is the relative time, 0 to [fixed.One] at the deadline, as defined by the protocol.
	Time fixed.Number
	// Offer is the standing offer, or [NoOutcome]. By made the offer.
	Offer Outcome
	By    int
	// History lists all offers so far, the oldest first.
	History []Offer
	// Least and Most limit the next offer's price, in base units: see [Issue.Amount]. If the protocol does
	// not limit prices, Least is 0 and Most is [math.MaxUint64].
	Least, Most uint64
	// Last reports whether the party has no further turn if it does not accept now.
	Last bool
}

// Offer is an offer in a session.
type Offer struct {
	// By is the offering party's number.
	By int
	// Step and Time are when it was made.
	Step    int
	Time    fixed.Number
	Outcome Outcome
}

// Move is an action's kind.
type Move uint8

// The moves.
const (
	// MoveOffer makes an offer, and rejects the standing one.
	MoveOffer Move = iota
	// MoveAccept accepts the standing offer.
	MoveAccept
	// MoveEnd ends the session with no agreement.
	MoveEnd
)

func (m Move) String() string { return [...]string{"offer", "accept", "end"}[min(m, MoveEnd)] }

// Action is a party's move.
type Action struct {
	Move Move
	// Outcome is the offer of [MoveOffer].
	Outcome Outcome
	// Reason states the strategy's reason for the move. It is a constant, never text from an opponent.
	Reason string
}

// Propose returns an action that offers an outcome; for [NoOutcome] it ends the session.
func Propose(o Outcome, reason string) Action {
	if o == NoOutcome {
		return Action{Move: MoveEnd, Outcome: NoOutcome, Reason: reason}
	}
	return Action{Move: MoveOffer, Outcome: o, Reason: reason}
}

// Accept returns an action that accepts the standing offer.
func Accept(reason string) Action {
	return Action{Move: MoveAccept, Outcome: NoOutcome, Reason: reason}
}

// End returns an action that ends the session.
func End(reason string) Action { return Action{Move: MoveEnd, Outcome: NoOutcome, Reason: reason} }

// Ending is how a session ended.
type Ending uint8

// The endings.
const (
	// EndingDeadline: there was no agreement until the deadline.
	EndingDeadline Ending = iota
	// EndingAgreement: all parties agreed.
	EndingAgreement
	// EndingLeft: a party ended the session.
	EndingLeft
	// EndingInvalid: a party made a move that the protocol does not allow.
	EndingInvalid
)

func (e Ending) String() string {
	return [...]string{"deadline", "agreement", "left", "invalid"}[min(e, EndingInvalid)]
}

// Result is a finished session.
type Result struct {
	Ending Ending
	// Agreement is the outcome, or [NoOutcome].
	Agreement Outcome
	// By is the party that accepted last, ended the session, or made the invalid move, or -1 at the deadline.
	By int
	// Step and Time are when the session ended.
	Step int
	Time fixed.Number
	// Err explains [EndingInvalid].
	Err error
	// History lists all offers, the oldest first.
	History []Offer
}
