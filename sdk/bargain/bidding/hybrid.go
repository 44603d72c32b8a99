package bidding

import (
	"cmp"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Hybrid mixes a time-dependent and a behavior-dependent target utility. At the time t it aims at t^2 T(t) +
// (1-t^2) B(t): T is a Bezier curve, B the utility of the party's last offer less Empathy (1+t) times the
// weighted sum of the opponent's last concessions, in the party's utility. With fewer than three offers
// received it is T. It offers the outcome nearest to the target. Utilities are not normalized, as in the
// source: the method expects utilities between 0 and 1.
//
// Source: NegMAS 0.16, HybridOfferingPolicy, after the Hybrid Agent of ANL.
type Hybrid struct {
	// Curve is T. A zero start means 1, and a zero middle 0.75. A zero end means a utility between 0.8 and
	// 0.675, falling with the domain size.
	Curve curve.Bezier
	// Empathy is the weight of the opponent's concessions. If zero, 0.5 is used.
	Empathy fixed.Number
}

// Bidder implements [bargain.Bidding].
func (h Hybrid) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder {
	if _, _, ok := seat.Preferences.Range(); !ok {
		return none{}
	}
	h.Curve.Start = cmp.Or(h.Curve.Start, fixed.One)
	h.Curve.Middle = cmp.Or(h.Curve.Middle, fixed.One/4*3)
	h.Curve.End = cmp.Or(h.Curve.End, hybridEnd(seat.Preferences.Domain().Size()))
	h.Empathy = cmp.Or(h.Empathy, fixed.One/2)
	return &hybrid{Hybrid: h, preferences: seat.Preferences, self: seat.Self}
}

func hybridEnd(size uint64) fixed.Number {
	end := fixed.One / 10 * 8
	for _, threshold := range []uint64{450, 1_500, 4_500, 18_000, 33_000} {
		if size < threshold {
			break
		}
		end -= fixed.One / 40
	}
	return end
}

// hybridWeights lists the weights of the last 1 to 4 concessions, the oldest first, in percent.
var hybridWeights = [4][]int64{{100}, {25, 75}, {11, 22, 66}, {5, 15, 30, 50}}

type hybrid struct {
	Hybrid
	preferences *bargain.Preferences
	self        int
	reason      string
}

func (h *hybrid) Sent(bargain.Outcome) string { return h.reason }

func (h *hybrid) Next(state *bargain.State) bargain.Outcome {
	t := state.Time
	target := h.Curve.Level(t)
	h.reason = "curve's target: too few offers to answer"
	if behaviour, ok := h.behaviour(state); ok {
		square := t.Mul(t)
		target = square.Mul(target) + (fixed.One - square).Mul(behaviour)
		h.reason = "mean of the curve's target and of an answer to the other side's concessions"
	}
	least, most, _ := h.preferences.Range()
	return choose(h.preferences, PickNearest, target.Clamp(least, most), nil, nil)
}

// behaviour returns B; false with fewer than three offers received.
func (h *hybrid) behaviour(state *bargain.State) (fixed.Number, bool) {
	var received [5]fixed.Number // the last ones, the newest first
	count := 0
	for ; count < len(received); count++ {
		offer, ok := state.Others(h.self, count)
		if !ok {
			break
		}
		received[count] = h.preferences.Of(offer.Outcome)
	}
	own, ok := state.Own(h.self, 0)
	if !ok || count < 3 {
		return 0, false
	}
	weights, sum := hybridWeights[count-2], fixed.Number(0)
	for i, weight := range weights {
		newer := len(weights) - 1 - i
		sum += (received[newer] - received[newer+1]).Scale(weight, 100)
	}
	return h.preferences.Of(own.Outcome) - (h.Empathy + h.Empathy.Mul(state.Time)).Mul(sum), true
}

// Mixture aims at the weighted mean of the utilities of several biddings' offers: Faratin's combination of
// tactics. The parts must respect the reservation value.
//
// Source: Faratin, Sierra, Jennings (1998), section 5: the value is the sum of weight times tactic.
type Mixture []Weighted

// Weighted is a [Mixture] part.
type Weighted struct {
	Bidding bargain.Bidding
	// Weight is the part's weight relative to the others, from 1.
	Weight uint32
}

// Bidder implements [bargain.Bidding].
func (m Mixture) Bidder(seat bargain.Seat, model bargain.Model) bargain.Bidder {
	if _, _, ok := seat.Preferences.Range(); !ok || len(m) == 0 {
		return none{}
	}
	mixed := &mixed{preferences: seat.Preferences}
	for _, part := range m {
		mixed.bidders = append(mixed.bidders, part.Bidding.Bidder(seat, model))
		mixed.weights = append(mixed.weights, int64(part.Weight))
		mixed.total += int64(part.Weight)
	}
	mixed.next = make([]bargain.Outcome, len(m))
	if mixed.total == 0 {
		return none{}
	}
	return mixed
}

type mixed struct {
	preferences *bargain.Preferences
	bidders     []bargain.Bidder
	weights     []int64
	total       int64
	next        []bargain.Outcome
}

func (m *mixed) Next(state *bargain.State) bargain.Outcome {
	target := fixed.Number(0)
	for i, bidder := range m.bidders {
		m.next[i] = bidder.Next(state)
		if m.next[i] == bargain.NoOutcome {
			return bargain.NoOutcome
		}
		target += m.preferences.Of(m.next[i]).Scale(m.weights[i], m.total)
	}
	least, most, _ := m.preferences.Range()
	return choose(m.preferences, PickNearest, target.Clamp(least, most), nil, nil)
}

func (m *mixed) Sent(bargain.Outcome) string {
	for i, bidder := range m.bidders {
		bidder.Sent(m.next[i])
	}
	return "mean of the mixture's tactics"
}

// Switch changes from Before to After at a relative time.
type Switch struct {
	Before, After bargain.Bidding
	At            fixed.Number
}

// Bidder implements [bargain.Bidding].
func (s Switch) Bidder(seat bargain.Seat, model bargain.Model) bargain.Bidder {
	return &switched{before: s.Before.Bidder(seat, model), after: s.After.Bidder(seat, model), at: s.At}
}

type switched struct {
	before, after, current bargain.Bidder
	at                     fixed.Number
}

func (s *switched) Next(state *bargain.State) bargain.Outcome {
	s.current = s.before
	if state.Time >= s.at {
		s.current = s.after
	}
	return s.current.Next(state)
}

// Sent returns the reason of the bidding in use.
func (s *switched) Sent(o bargain.Outcome) string { return s.current.Sent(o) }
