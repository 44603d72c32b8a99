package tournament

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/solution"
)

// solutions holds the solutions for measuring a scenario's agreements.
type solutions struct {
	// nash holds the Nash bargaining solution's outcomes. It is empty if no outcome suits both parties.
	nash []solution.Point
	// problem is nil if the frontier is not known. If every outcome is efficient, it is not needed.
	problem   *solution.Problem
	efficient bool
}

// solve computes the solutions once and returns them. They are empty if the domain is too large: see
// [solution.New].
func (s *Scenario) solve() *solutions {
	s.solving.Do(func() {
		switch problem, err := solution.New(s.Preferences[0], s.Preferences[1]); {
		case err == nil:
			s.solved = solutions{nash: problem.Nash(), problem: problem}
		case s.Rules != nil:
			s.solved = solutions{nash: s.nashPrices(), efficient: true}
		}
	})
	return &s.solved
}

// Frontier returns the Pareto frontier's points, sorted by falling utility for the first party. Under Haggle's
// rules with too many prices it returns the ends of the frontier only, a straight line. It returns nil if the
// domain is too large: see [solution.New]. The result is shared and must not be modified.
func (s *Scenario) Frontier() []solution.Point {
	switch solved := s.solve(); {
	case solved.problem != nil:
		return solved.problem.Frontier()
	case solved.efficient:
		highest := bargain.Outcome(s.Preferences[0].Domain().Size() - 1)
		return []solution.Point{s.point(0), s.point(highest)} // party 0 is the buyer
	}
	return nil
}

// nashPrices returns the Nash bargaining solution under Haggle's rules: the middle of the prices that suit
// both parties, because a party gains exactly the opponent's loss. A better price for a party is worse for
// the opponent, so every price is efficient.
func (s *Scenario) nashPrices() []solution.Point {
	lowest, highest := bargain.NoOutcome, bargain.NoOutcome
	for role, bound := range []*bargain.Outcome{&highest, &lowest} {
		p := s.Preferences[role]
		if least, _, ok := p.Range(); ok {
			*bound = p.Inverse().AtLeast(least)
		}
	}
	if lowest == bargain.NoOutcome || highest == bargain.NoOutcome || lowest > highest {
		return nil
	}
	// The utilities are rounded, so that the product can be highest beside the middle.
	middle := lowest + (highest-lowest)/2
	var around []solution.Point
	for o := max(lowest+2, middle) - 2; o <= min(highest, middle+2); o++ {
		around = append(around, s.point(o))
	}
	reservation := [2]fixed.Number{s.Preferences[0].Reservation(), s.Preferences[1].Reservation()}
	return solution.NewFinite(reservation, around).Nash()
}

func (s *Scenario) point(o bargain.Outcome) solution.Point {
	return solution.Point{
		Outcome: o, Utilities: [2]fixed.Number{s.Preferences[0].Of(o), s.Preferences[1].Of(o)},
	}
}

// measure sets a session agreement's distances.
func (s *Scenario) measure(session *Session) {
	if session.Agreement == bargain.NoOutcome {
		return
	}
	solved := s.solve()
	if len(solved.nash) > 0 {
		session.NashDistance = new(solution.Nearest(solved.nash, session.Utilities))
	}
	switch {
	case solved.efficient || solved.problem != nil && solved.problem.IsEfficient(session.Utilities):
		session.ParetoDistance = new(fixed.Number)
	case solved.problem != nil:
		session.ParetoDistance = new(solution.Nearest(solved.problem.Frontier(), session.Utilities))
	}
}
