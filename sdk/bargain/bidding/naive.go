package bidding

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// NaiveTitForTat is NegMAS' naive tit-for-tat: it takes its own level of the last offer received as the other
// party's concession, and concedes as much of its whole range of utilities. The level of an offer is 0 at the
// reservation value and 1 at the best outcome.
//
// Its own acceptance takes an offer if its level is at least 1 less the concession. In the first step both
// concede nothing. In the second and the third step the concession is the difference between two neighbours in
// the order of falling utility: the first and second outcome for the first decision, the third and fourth for
// the next one, and so on up to the eighth. NegMAS keeps its place in that order between its decisions.
//
// NegMAS can offer an outcome below the reservation value if that is above the middle of the range. Here such
// an offer is replaced by the lowest rational one.
//
// Source: NegMAS 0.16, NaiveTitForTatNegotiator with must_concede.
type NaiveTitForTat struct {
	// Kindness is added to the concession from the fourth step on. If zero, NegMAS' default, there is none.
	Kindness fixed.Number
}

// forcedSteps is the number of steps with a forced concession. Each has two decisions: accept, and offer.
const forcedSteps = 2

// gaps are the differences of utility between the first and second, the third and fourth outcome, ...
type gaps [2 * forcedSteps]fixed.Number

// gapsKey identifies the gaps among the memos of preferences.
type gapsKey struct{}

func gapsOf(p *bargain.Preferences) gaps {
	if !p.IsReused() {
		return newGaps(p)
	}
	found, _ := p.Memo(gapsKey{}, func() any { return newGaps(p) }).(gaps)
	return found
}

func newGaps(p *bargain.Preferences) (list gaps) {
	// After the last outcome NegMAS continues with that of no agreement.
	for cursor, at := p.Inverse().Descend(), 0; at < len(list); at++ {
		better := p.Of(cursor.Next())
		list[at] = better.Sub(p.Of(cursor.Next()))
	}
	return list
}

// forced returns the concession of a decision in one of the steps that force it.
func (g *gaps) forced(step, decision int) (fixed.Number, bool) {
	if step < 1 || step > forcedSteps {
		return 0, false
	}
	return g[2*(step-1)+decision], true
}

// Bidder implements [bargain.Bidding].
func (n NaiveTitForTat) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder {
	if _, _, ok := seat.Preferences.Range(); !ok {
		return none{}
	}
	worst, best := seat.Preferences.Bounds()
	return &naive{
		NaiveTitForTat: n, preferences: seat.Preferences, self: seat.Self, gaps: gapsOf(seat.Preferences),
		best: best, span: best - worst,
	}
}

type naive struct {
	NaiveTitForTat
	preferences *bargain.Preferences
	self        int
	gaps        gaps
	// span is the difference between the best and the worst outcome.
	best, span fixed.Number
}

func (*naive) Sent(bargain.Outcome) {}

func (n *naive) Next(state *bargain.State) bargain.Outcome {
	target := n.best
	if gap, ok := n.gaps.forced(state.Step, 1); ok {
		target -= gap
	} else if received, ok := state.Others(n.self, 0); ok && state.Step > 0 {
		level := n.preferences.Level(n.preferences.Of(received.Outcome))
		target -= (level + n.Kindness).Mul(n.span)
	}
	least, _, _ := n.preferences.Range()
	return n.nearest(target.Clamp(least, n.best), least)
}

// slack is how far below its target NegMAS takes an outcome that is nearer to it than the next one above.
const slack = fixed.One / 1_000_000

// nearest returns the outcome with the lowest utility from target on, or the one below if that is within the
// slack and nearer. Least limits it.
func (n *naive) nearest(target, least fixed.Number) bargain.Outcome {
	inverse, p := n.preferences.Inverse(), n.preferences
	above := inverse.AtLeast(target)
	if below := inverse.AtMost(target); below != bargain.NoOutcome {
		u := p.Of(below)
		if u >= max(target-slack, least) && target-u < p.Of(above)-target {
			return below
		}
	}
	return above
}

// Accepts implements [bargain.Acceptor].
func (n *naive) Accepts(state *bargain.State, _ bargain.Plan) bool {
	u := n.preferences.Of(state.Offer)
	least, _, _ := n.preferences.Range()
	if u < least {
		return false
	}
	if state.Step == 0 {
		return u >= n.best
	}
	level := n.preferences.Level(u)
	if gap, ok := n.gaps.forced(state.Step, 0); ok {
		if n.span > 0 {
			gap = gap.Div(n.span)
		}
		return level >= fixed.One-gap
	}
	return level >= fixed.One-level-n.Kindness
}
