// Package mechanism implements the protocols: (stacked) alternating offers and single-text mediation.
package mechanism

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// ErrConfig reports an invalid session configuration.
var ErrConfig = errors.New("mechanism: invalid session")

// ErrMove reports a move that the protocol does not allow.
var ErrMove = errors.New("mechanism: invalid move")

// Party is a session participant.
type Party struct {
	Strategy    bargain.Strategy
	Preferences *bargain.Preferences
	// Pace is the logical time of the party's turns, for sessions with a time limit.
	Pace int64
}

// Alternating is the stacked alternating offers protocol (SAOP): in every step all parties take a turn, in a
// fixed order: accept the standing offer, make a new offer, or end the session. An offer accepted by all
// remaining parties in a row is the agreement. With two parties it is Rubinstein's alternating offers.
//
// Source: Aydogan, Festen, Hindriks, Jonker: Alternating Offers Protocols for Multilateral Negotiation
// (2017). The relative time is (step+1)/(steps+1) in sessions with a step limit, as in NegMAS and in GENIUS'
// DiscreteTimeline, elapsed/limit with a time limit, and the higher value with both.
type Alternating struct {
	// Steps limits the steps; if 0, only Limit ends the session.
	Steps int
	// Limit is the logical time after which no turn begins, in [Party].Pace's unit; if 0, only Steps ends the
	// session.
	Limit int64
}

// Run runs a session. Parties take turns in the given order; the seed determines the parties' random numbers.
// It returns [ErrConfig] if the session has no deadline, fewer than two parties, or parties with different
// domains.
func (a Alternating) Run(seed uint64, parties ...Party) (bargain.Result, error) {
	session, _ := sessions.Get().(*Session)
	result, err := session.Run(a, seed, parties...)
	result.History = slices.Clone(result.History)
	clear(session.negotiators)
	sessions.Put(session)
	return result, err
}

// sessions keeps the memory of finished sessions, because most sessions make fewer offers than their deadline
// allows.
var sessions = sync.Pool{New: func() any { return new(Session) }}

// Session runs sessions sequentially and reuses memory. The zero value is ready. A result's History is valid
// until the next run.
type Session struct {
	negotiators []bargain.Negotiator
	randoms     []bargain.Random
	state       bargain.State
	history     []bargain.Offer
}

// Run runs a session as [Alternating.Run] does.
func (s *Session) Run(a Alternating, seed uint64, parties ...Party) (bargain.Result, error) {
	if err := a.check(parties); err != nil {
		return bargain.Result{}, err
	}
	s.start(a, seed, parties)
	domain := parties[0].Preferences.Domain()
	state := &s.state
	accepted, elapsed := 0, int64(0)
	for ; a.Steps == 0 || state.Step < a.Steps; state.Step++ {
		byStep := a.byStep(state.Step)
		for self := range parties {
			if a.Limit > 0 && elapsed >= a.Limit {
				return s.finish(bargain.EndingDeadline, -1), nil
			}
			state.Time = byStep
			if a.Limit > 0 {
				state.Time = min(max(byStep, fixed.Ratio(elapsed, a.Limit)), fixed.One)
			}
			state.Last = a.isLast(state.Step, elapsed, parties)
			state.History = s.history
			action := s.negotiators[self].Respond(state)
			elapsed += parties[self].Pace
			switch err := check(domain, state, self, action); {
			case err != nil:
				result := s.finish(bargain.EndingInvalid, self)
				result.Err = err
				return result, nil
			case action.Move == bargain.MoveEnd:
				return s.finish(bargain.EndingLeft, self), nil
			case action.Move == bargain.MoveAccept:
				if accepted++; accepted == len(parties) {
					return s.finish(bargain.EndingAgreement, self), nil
				}
			default:
				accepted = 1
				state.Offer, state.By = action.Outcome, self
				s.history = append(s.history, bargain.Offer{
					By: self, Step: state.Step, Time: state.Time, Outcome: action.Outcome,
				})
			}
		}
	}
	state.Time = fixed.One
	return s.finish(bargain.EndingDeadline, -1), nil
}

func (a Alternating) check(parties []Party) error {
	if a.Steps <= 0 && a.Limit <= 0 || a.Steps < 0 || a.Limit < 0 {
		return fmt.Errorf("%w: Steps or Limit must be positive", ErrConfig)
	}
	if len(parties) < 2 {
		return fmt.Errorf("%w: %d parties", ErrConfig, len(parties))
	}
	for i, party := range parties {
		switch {
		case party.Strategy == nil || party.Preferences == nil:
			return fmt.Errorf("%w: party %d has no strategy or no preferences", ErrConfig, i)
		case party.Preferences.Domain() != parties[0].Preferences.Domain():
			return fmt.Errorf("%w: party %d has another domain", ErrConfig, i)
		case a.Limit > 0 && (party.Pace <= 0 || party.Pace > maxPace):
			return fmt.Errorf("%w: party %d: with Limit, Pace %d must be positive", ErrConfig, i, party.Pace)
		}
	}
	return nil
}

const maxPace = 1 << 40

func (s *Session) start(a Alternating, seed uint64, parties []Party) {
	if cap(s.randoms) < len(parties) {
		s.randoms = make([]bargain.Random, len(parties))
	}
	s.randoms = s.randoms[:len(parties)]
	s.negotiators = s.negotiators[:0]
	if wanted := a.Steps * len(parties); cap(s.history) < wanted && wanted <= 1<<16 {
		s.history = make([]bargain.Offer, 0, wanted)
	}
	s.history = s.history[:0]
	s.state = bargain.State{
		Steps: a.Steps, Offer: bargain.NoOutcome, By: -1,
		Most: math.MaxUint64,
	}
	for self, party := range parties {
		s.randoms[self].Reset(seed, uint64(self))
		s.negotiators = append(s.negotiators, party.Strategy.Start(bargain.Seat{
			Preferences: party.Preferences, Self: self, Parties: len(parties), Steps: a.Steps,
			Random: &s.randoms[self],
		}))
	}
}

// byStep returns a step's relative time under the step limit, or 0 if there is no limit.
func (a Alternating) byStep(step int) fixed.Number {
	if a.Steps == 0 {
		return 0
	}
	return fixed.Ratio(int64(step)+1, int64(a.Steps)+1)
}

// isLast reports whether this is the party's last turn.
func (a Alternating) isLast(step int, elapsed int64, parties []Party) bool {
	if a.Steps > 0 && step == a.Steps-1 {
		return true
	}
	if a.Limit == 0 {
		return false
	}
	for _, party := range parties {
		elapsed += party.Pace
	}
	return elapsed >= a.Limit
}

// check returns an error if a move is not allowed.
func check(domain *bargain.Domain, state *bargain.State, self int, action bargain.Action) error {
	switch {
	case action.Move > bargain.MoveEnd:
		return fmt.Errorf("%w: unknown move %d", ErrMove, action.Move)
	case action.Move == bargain.MoveOffer && !domain.Has(action.Outcome):
		return fmt.Errorf("%w: outcome %d is not in the domain", ErrMove, action.Outcome)
	case action.Move == bargain.MoveAccept && (state.Offer == bargain.NoOutcome || state.By == self):
		return fmt.Errorf("%w: there is no offer of another party to accept", ErrMove)
	}
	return nil
}

func (s *Session) finish(ending bargain.Ending, by int) bargain.Result {
	result := bargain.Result{
		Ending: ending, Agreement: bargain.NoOutcome, By: by, Step: s.state.Step, Time: s.state.Time,
		History: s.history,
	}
	if ending == bargain.EndingAgreement {
		result.Agreement = s.state.Offer
	}
	return result
}
