package tournament

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Turn is a session move.
type Turn struct {
	// Number counts the moves, from 1. By is a role number.
	Number, By int
	Move       bargain.Move
	// Outcome is the made or accepted offer; [bargain.NoOutcome] if the role ended the session. Text describes
	// it.
	Outcome bargain.Outcome
	Text    string
	// Utilities holds the outcome's undiscounted utilities for both roles.
	Utilities [2]fixed.Number
	// Time is an offer's relative time, as in the session's result, and 0 for all other moves.
	Time fixed.Number
	// Reason says why the strategy made the move.
	Reason string
}

// Trace replays a session from the plan and returns the moves. The entrant named first plays the first role.
func (p *Plan) Trace(s *Scenario, first, second, repetition int) ([]Turn, Session, error) {
	seed := p.sessionSeed(s.Name, first, second, repetition)
	var turns []Turn
	standing := bargain.NoOutcome
	domain := s.Preferences[0].Domain()
	result, settlement, err := s.run(p, seed, p.Entrants[first].Strategy, p.Entrants[second].Strategy,
		func(by int, action bargain.Action) {
			turn := Turn{
				Number: len(turns) + 1, By: by, Move: action.Move, Outcome: action.Outcome, Reason: action.Reason,
			}
			switch action.Move {
			case bargain.MoveOffer:
				standing = action.Outcome
			case bargain.MoveAccept:
				turn.Outcome = standing
			}
			if domain.Has(turn.Outcome) {
				turn.Text = domain.Text(turn.Outcome)
				for role, preferences := range s.Preferences {
					turn.Utilities[role] = preferences.Of(turn.Outcome)
				}
			}
			turns = append(turns, turn)
		})
	if err == nil {
		err = result.Err
	}
	if err != nil {
		return nil, Session{}, err
	}
	offers := result.History
	for at := range turns {
		if turns[at].Move == bargain.MoveOffer {
			turns[at].Time, offers = offers[0].Time, offers[1:]
		}
	}
	session := s.session(&result, settlement)
	session.Strategies, session.Repetition, session.Seed = [2]int{first, second}, repetition, seed
	return turns, session, nil
}

// observed is a strategy that reports moves to an observer.
type observed struct {
	bargain.Strategy
	observe func(bargain.Action)
}

// Start implements [bargain.Strategy].
func (o observed) Start(seat bargain.Seat) bargain.Negotiator {
	return observedNegotiator{o.Strategy.Start(seat), o.observe}
}

type observedNegotiator struct {
	bargain.Negotiator
	observe func(bargain.Action)
}

// Respond implements [bargain.Negotiator].
func (o observedNegotiator) Respond(state *bargain.State) bargain.Action {
	action := o.Negotiator.Respond(state)
	o.observe(action)
	return action
}
