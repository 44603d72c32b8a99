package bargain

import "slices"

// Assessment is a party's turn as its strategy assesses it, for a caller that chooses the move itself, such as
// a language model.
type Assessment struct {
	// Preferences are the party's own, and Self is its number.
	Preferences *Preferences
	Self        int
	// Rounds is the number of offers that both parties can make, and Round the number of offers so far.
	Rounds, Round int
	// State is the state that the strategy receives at this turn.
	State State
	// Move is the strategy's move: see [Course.Respond].
	Move Action
	// Target is the strategy's next offer, also if it accepts: the offer that it makes if nothing can be
	// accepted. It is moved into the limits of prices, unless no rounds are left. [NoOutcome] if the strategy
	// makes none.
	Target Outcome
}

// CanOffer reports whether rounds are left.
func (a *Assessment) CanOffer() bool { return a.Round < a.Rounds }

// Assess returns a party's assessment of its turn with a standing offer, or [NoOutcome]. Play returns a new
// course after [Course.Play] with the standing offer of its argument. It is called twice: the second course
// cannot accept, which gives the target.
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
