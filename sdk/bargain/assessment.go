package bargain

import "slices"

// Assessment is the strategy's assessment of a party's turn, for callers that choose the move themselves,
// such as a language model.
type Assessment struct {
	// Preferences and Self are the party's preferences and number.
	Preferences *Preferences
	Self        int
	// Rounds is the total number of possible offers by both parties, Round the number of offers so far.
	Rounds, Round int
	// State is passed to the strategy in this turn.
	State State
	// Move is the strategy's move: see [Course.Respond].
	Move Action
	// Target is the strategy's next offer, even if the strategy accepts: the offer to make if nothing can be
	// accepted. It is moved into the price limits, unless no rounds are left. It is [NoOutcome] if the
	// strategy makes no offer.
	Target Outcome
}

// CanOffer reports whether rounds are left.
func (a *Assessment) CanOffer() bool { return a.Round < a.Rounds }

// Assess assesses a party's turn, given the standing offer or [NoOutcome]. play must return a new course
// after calling [Course.Play] with the given standing offer. Assess calls it twice: the second course cannot
// accept, and so yields the target.
func Assess(standing Outcome, play func(standing Outcome) *Course) Assessment {
	course, bidding := play(standing), play(NoOutcome)
	assessed := Assessment{
		Preferences: course.preferences, Self: course.self, Rounds: course.rounds, Round: course.round,
		State: course.state, Move: course.moved, Target: NoOutcome,
	}
	assessed.State.History = slices.Clone(course.state.History)
	next := bidding.moved
	if !assessed.CanOffer() {
		next = bidding.own
	}
	if next.Move == MoveOffer && course.preferences.Domain().Has(next.Outcome) {
		assessed.Target = next.Outcome
	}
	return assessed
}
