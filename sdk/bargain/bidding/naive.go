package bidding

import (
	"cmp"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// NaiveTitForTat is NegMAS' naive tit-for-tat: it takes the last received offer's own level as the opponent's
// concession, and concedes the same share of its whole utility range. An offer's level is 0 at the
// reservation value, 1 at the best outcome.
//
// Its acceptance condition accepts offers with a level of 1 less the concession or more. In the first step
// neither the bidding nor the acceptance concedes. In the second and the third step the concession is the
// utility difference between neighbors, sorted by falling utility: the first and second outcome for the first
// decision, the third and fourth for the second decision, and so on up to the eighth outcome. NegMAS uses one
// cursor for all decisions.
//
// If the reservation value exceeds the middle of the range, NegMAS can offer an outcome below it. Here the
// lowest rational outcome replaces such offers.
//
// Source: NegMAS 0.16, NaiveTitForTatNegotiator with must_concede.
type NaiveTitForTat struct {
	// Kindness is added to the concession from the fourth step on, as a fraction of the range: 0.1 means a
	// tenth. If zero, as in NegMAS, nothing is added.
	Kindness fixed.Number
}

// forcedSteps is the number of steps with a forced concession. Each has two decisions: accept, and offer.
const forcedSteps = 2

// gaps lists the utility differences between the first and second, the third and fourth outcome, ...
type gaps [2 * forcedSteps]fixed.Number

// gapsKey identifies the gaps among the memos of preferences.
type gapsKey struct{}

// gapsOf returns the gaps. A memo would cost more than computing a single session's gaps.
func gapsOf(p *bargain.Preferences) gaps {
	if !p.IsReused() {
		return newGaps(p)
	}
	found, _ := p.Memo(gapsKey{}, func() any { return newGaps(p) }).(gaps)
	return found
}

func newGaps(p *bargain.Preferences) (list gaps) {
	utilities := bestUtilities(p)
	for at := range list {
		list[at] = utilities[2*at].Sub(utilities[2*at+1])
	}
	return list
}

// bestUtilities returns the best outcomes' utilities. After the last outcome NegMAS continues with no
// agreement's utility.
func bestUtilities(p *bargain.Preferences) (list [2 * len(gaps{})]fixed.Number) {
	domain := p.Domain()
	additive, ok := p.Utility().(bargain.Additive)
	if ok && domain.Len() > 1 && domain.Size() > bargain.MaxSorted && p.Inverse().Exact() {
		copy(list[:], highest(domain, additive, len(list))) // costs far less than a cursor
		return list
	}
	cursor := p.Unreserved().Descend()
	for at := range list {
		list[at] = p.Of(cursor.Next())
	}
	return list
}

// highest returns the highest utilities, in falling order: the sums of the issues' highest parts. The domain
// must contain count outcomes or more.
func highest(domain *bargain.Domain, utility bargain.Additive, count int) []fixed.Number {
	falling := func(a, b fixed.Number) int { return cmp.Compare(b, a) }
	sums := []fixed.Number{0}
	for at := range domain.Len() {
		first, end := uint64(0), domain.Issue(at).Count
		switch few := min(end, uint64(count)); utility.Direction(at) {
		case 1:
			first = end - few
		case -1:
			end = few
		}
		var parts, all []fixed.Number
		for index := first; index < end; index++ {
			parts = append(parts, utility.Part(at, index))
		}
		slices.SortFunc(parts, falling)
		for _, part := range parts[:min(len(parts), count)] {
			for _, sum := range sums {
				all = append(all, sum+part)
			}
		}
		slices.SortFunc(all, falling)
		sums = all[:min(len(all), count)]
	}
	return sums
}

// forced returns the concession that the step forces on a decision: 0 means accept, 1 means offer. It returns
// false for steps outside 1 to forcedSteps.
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
	least, most := seat.Preferences.Bounds()
	return &naive{
		NaiveTitForTat: n, preferences: seat.Preferences, self: seat.Self, gaps: gapsOf(seat.Preferences),
		most: most, span: most - least,
	}
}

type naive struct {
	NaiveTitForTat
	preferences *bargain.Preferences
	self        int
	gaps        gaps
	// most is the highest utility, span the distance to the lowest utility.
	most, span fixed.Number
	reason     string
}

func (n *naive) Sent(bargain.Outcome) string { return n.reason }

// Reason implements [bargain.Acceptor].
func (*naive) Reason() string { return "at least 1 minus the concession of the other side" }

func (n *naive) Next(state *bargain.State) bargain.Outcome {
	target := n.most
	n.reason = "best outcome: no offer to answer"
	if gap, ok := n.gaps.forced(state.Step, 1); ok {
		target -= gap
		n.reason = "concession that the first steps require"
	} else if received, ok := state.Others(n.self, 0); ok && state.Step > 0 {
		level := n.preferences.Level(n.preferences.Seen(received.Outcome, state))
		target -= (level + n.Kindness).Mul(n.span)
		n.reason = "concedes as much of its range as the other side's last offer"
	}
	least, _, _ := n.preferences.Range()
	return n.nearest(target.Clamp(least, n.most), least)
}

// slack limits how far below the target NegMAS offers an outcome, if it is nearer to the target than the next
// outcome above.
const slack = fixed.One / 1_000_000

// nearest returns the outcome with the lowest utility from target on, or the next lower outcome if it is
// nearer, within the slack, and not below least.
func (n *naive) nearest(target, least fixed.Number) bargain.Outcome {
	inverse, p := n.preferences.Unreserved(), n.preferences
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
	u := n.preferences.Seen(state.Offer, state)
	least, _, _ := n.preferences.Range()
	if u < least {
		return false
	}
	if state.Step == 0 {
		return u >= n.most
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
