package bidding

import (
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Hardliner always offers the best outcome.
type Hardliner struct{}

// Bidder implements [bargain.Bidding].
func (Hardliner) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder {
	if _, _, ok := seat.Preferences.Range(); !ok {
		return none{}
	}
	_, best := seat.Preferences.Extremes()
	return constant(best)
}

type constant bargain.Outcome

func (c constant) Next(*bargain.State) bargain.Outcome { return bargain.Outcome(c) }

func (constant) Sent(bargain.Outcome) string { return "best outcome, as always" }

// Random offers a random outcome from a level of the rational range on: 0 for any rational outcome.
type Random struct{ Level fixed.Number }

// Bidder implements [bargain.Bidding].
func (r Random) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder {
	if _, _, ok := seat.Preferences.Range(); !ok {
		return none{}
	}
	p := seat.Preferences
	return &random{preferences: p, target: p.Target(r.Level), source: seat.Random}
}

type random struct {
	preferences *bargain.Preferences
	target      fixed.Number
	source      *bargain.Random
}

func (r *random) Next(*bargain.State) bargain.Outcome {
	return choose(r.preferences, PickRandom, r.target, r.source, nil)
}

func (*random) Sent(bargain.Outcome) string { return "random outcome" }

// MiCRO offers the outcomes by falling utility. It makes a new offer only if it has made no more different
// offers than it has received; otherwise it repeats a random earlier offer. It takes no parameters and needs
// neither time nor a model. Its built-in acceptance condition is NegMAS' MiCROAcceptancePolicy: it accepts
// offers at least as good as the next new offer, or, while it repeats offers, as the worst offer it has made.
// In a round it allocates only the cursor for the second offer, unless it makes or receives more than 1,024
// different offers or the steps have no limit.
//
// With several opponents, the opponent with the fewest different offers counts. An accepted offer also counts
// as the accepting party's offer, so agreeing parties do not block each other.
//
// Sources: de Jonge: An Analysis of the Linear Bilateral ANAC Domains Using the MiCRO Benchmark Strategy
// (2022); the repeated offer as in NegMAS' MiCROOfferingPolicy; Aguilera-Luzon, de Jonge, Larrosa: MiCRO for
// Multilateral Negotiations (2025).
type MiCRO struct{}

// maxPlanned limits the number of offers that MiCRO reserves memory for.
const maxPlanned = 1024

// Bidder implements [bargain.Bidding].
func (MiCRO) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder {
	different := int(min(uint64(seat.Steps), seat.Preferences.Domain().Size(), maxPlanned))
	m := &micro{
		seat: seat, order: newOrder(seat), sent: make([]bargain.Outcome, 0, different),
		last: bargain.Offer{By: -1}, lowest: fixed.Max,
	}
	for range max(seat.Parties, 2) - 1 {
		m.received = append(m.received, newSet(seat.Preferences.Domain().Size(), different))
	}
	return m
}

// set is a set of outcomes.
type set struct {
	count int
	// bits stores a bit for every outcome if this needs no more memory than list. Otherwise list holds the
	// outcomes in rising order; up to thousands of outcomes, a map is slower.
	bits []uint64
	list []bargain.Outcome
}

// newSet returns an empty set for a domain with size outcomes. A list has capacity for the given number of
// outcomes.
func newSet(size uint64, outcomes int) set {
	if words := size/64 + 1; words <= uint64(outcomes) {
		return set{bits: make([]uint64, words)}
	}
	return set{list: make([]bargain.Outcome, 0, outcomes)}
}

func (s *set) add(o bargain.Outcome) {
	if s.bits != nil {
		word, bit := &s.bits[o/64], uint64(1)<<(o%64)
		if *word&bit == 0 {
			*word |= bit
			s.count++
		}
	} else if at, ok := slices.BinarySearch(s.list, o); !ok {
		s.list = slices.Insert(s.list, at, o)
		s.count++
	}
}

// order lists the rational outcomes by falling utility. It searches only when next is called, not when the
// previous outcome is passed, because that outcome can be the session's last offer. It creates the cursor
// only for the second outcome, because sessions can end earlier.
type order struct {
	preferences *bargain.Preferences
	// step is [bargain.Seat].Step.
	step    fixed.Number
	cursor  bargain.Cursor
	passed  bool
	current bargain.Outcome
	// utility is current's utility.
	utility fixed.Number
}

func newOrder(seat bargain.Seat) order {
	p := seat.Preferences
	return order{
		preferences: p, step: seat.Step, passed: true, current: bargain.NoOutcome, utility: p.Reservation(),
	}
}

// next gives the first outcome not yet passed, or NoOutcome after the last rational outcome.
func (r *order) next() bargain.Outcome {
	if r.passed {
		r.passed = false
		switch {
		case r.current == bargain.NoOutcome:
			_, r.current = r.preferences.Extremes()
		case r.step > 0:
			r.current = r.stepDown()
		default:
			if r.cursor == nil {
				r.cursor = r.preferences.Inverse().Descend()
				r.cursor.Next() // the best
			}
			r.current = r.cursor.Next()
		}
		if r.utility = r.preferences.Of(r.current); r.utility < r.preferences.Reservation() {
			r.current, r.utility = bargain.NoOutcome, r.preferences.Reservation()
		}
	}
	return r.current
}

// stepDown returns the worst rational outcome within a step below the current outcome, or else the next rank.
func (r *order) stepDown() bargain.Outcome {
	inverse := r.preferences.Inverse()
	below := inverse.AtLeast(max(r.utility.Sub(r.step), r.preferences.Reservation()))
	if r.preferences.Of(below) < r.utility {
		return below
	}
	return inverse.AtMost(r.utility - 1)
}

// pass reports whether o equals next's result. If so, the following call of next moves on to the outcome
// after o.
func (r *order) pass(o bargain.Outcome) bool {
	if r.passed || o != r.current {
		return false
	}
	r.passed = true
	return true
}

// of returns an outcome's utility. Most calls are for the current outcome.
func (r *order) of(o bargain.Outcome) fixed.Number {
	if o == r.current {
		return r.utility
	}
	return r.preferences.Of(o)
}

type micro struct {
	seat  bargain.Seat
	order order
	sent  []bargain.Outcome
	// received holds the opponents' different offers, in turn order after the party's own turn.
	received []set
	observed int
	// The latest observed offer; By is -1 if there is none.
	last bargain.Offer
	// lowest is the lowest utility of the party's own offers in the history, or fixed.Max. They can differ
	// from sent: a protocol with limits changes offers beyond them.
	lowest fixed.Number
}

func (m *micro) Next(state *bargain.State) bargain.Outcome {
	m.observe(state)
	if len(m.sent) <= m.fewest() {
		if next := m.order.next(); next != bargain.NoOutcome {
			return next
		}
	}
	if len(m.sent) == 0 {
		return bargain.NoOutcome
	}
	return m.sent[m.seat.Random.Below(uint64(len(m.sent)))]
}

func (m *micro) observe(state *bargain.State) {
	for ; m.observed < len(state.History); m.observed++ {
		offer := state.History[m.observed]
		m.accepted(m.last, offer.By)
		if m.last = offer; offer.By == m.seat.Self {
			m.lowest = min(m.lowest, m.order.of(offer.Outcome))
		} else {
			m.of(offer.By).add(offer.Outcome)
		}
	}
	if state.Offer == m.last.Outcome && state.By == m.last.By {
		m.accepted(m.last, m.seat.Self)
	}
}

// accepted adds an offer to the offers by the parties with turns between the offer and the next move, because
// they can only have accepted it. With two parties there are no such turns.
func (m *micro) accepted(offer bargain.Offer, next int) {
	parties := len(m.received) + 1
	if parties == 2 || offer.By < 0 || offer.By == next {
		return
	}
	for by := (offer.By + 1) % parties; by != next; by = (by + 1) % parties {
		if by != m.seat.Self {
			m.of(by).add(offer.Outcome)
		}
	}
}

// of returns another party's offers.
func (m *micro) of(by int) *set {
	parties := len(m.received) + 1
	return &m.received[(by-m.seat.Self-1+parties)%parties]
}

// fewest returns the lowest number of different offers made by any opponent.
func (m *micro) fewest() int {
	fewest := m.received[0].count
	for _, received := range m.received[1:] {
		fewest = min(fewest, received.count)
	}
	return fewest
}

func (m *micro) Sent(o bargain.Outcome) string {
	if m.order.pass(o) {
		m.sent = append(m.sent, o)
		return "next outcome by utility: no more new offers made than received"
	}
	return "random own offer again: more new offers made than received"
}

// Reason implements [bargain.Acceptor].
func (*micro) Reason() string { return "at least as good as the next offer of MiCRO" }

// Accepts implements [bargain.Acceptor].
func (m *micro) Accepts(state *bargain.State, plan bargain.Plan) bool {
	p := m.seat.Preferences
	least := p.Reservation()
	if planned := plan.Next(); planned != bargain.NoOutcome {
		least = max(least, min(m.lowest, m.order.of(planned)))
	}
	return p.Of(state.Offer) >= least
}

// Conceding offers an outcome per turn, by falling utility, and then repeats the last rational outcome.
// NegMAS' CAB, CAN and CAR bid this way.
//
// Source: Mohammad: Generalized Bargaining Protocols (2023); NegMAS, CABOfferingPolicy.
type Conceding struct{}

// Bidder implements [bargain.Bidding].
func (Conceding) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder {
	c := newConceding(seat)
	return &c
}

func newConceding(seat bargain.Seat) conceding {
	return conceding{order: newOrder(seat), last: bargain.NoOutcome}
}

type conceding struct {
	order order
	last  bargain.Outcome
}

func (c *conceding) Next(*bargain.State) bargain.Outcome {
	if next := c.order.next(); next != bargain.NoOutcome {
		return next
	}
	return c.last
}

func (c *conceding) Sent(o bargain.Outcome) string {
	if c.order.pass(o) {
		c.last = o
		return "next outcome by utility"
	}
	return "last rational outcome again"
}

// Wasting first offers the outcomes below the reservation value, and then does as [Conceding]. NegMAS' WAB,
// WAN and WAR bid this way. No other bidding offers outcomes below the reservation value: a party able to
// accept such offers gains from them.
//
// As in NegMAS, the first offers follow falling outcome numbers, not utility. In domains with more than 2^20
// outcomes, which NegMAS does not enumerate, the worst outcome comes first.
//
// Source: Mohammad: Generalized Bargaining Protocols (2023); NegMAS 0.16, WAROfferingPolicy.
type Wasting struct{}

// maxWasted is the largest domain size for number order.
const maxWasted = 1 << 20

// Bidder implements [bargain.Bidding].
func (Wasting) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder {
	w := &wasting{conceding: newConceding(seat), passed: true}
	if size := seat.Preferences.Domain().Size(); size <= maxWasted {
		w.left = size
	} else {
		w.worst = seat.Preferences.Inverse().Ascend()
	}
	return w
}

type wasting struct {
	conceding
	// left counts the outcomes not yet passed by wasted. In large domains worst lists them.
	left  uint64
	worst bargain.Cursor
	// wasted is the next outcome below the reservation value, or NoOutcome, unless it has been passed.
	wasted bargain.Outcome
	passed bool
}

// advance finds the next outcome below the reservation value.
func (w *wasting) advance() {
	w.passed = false
	if w.worst != nil {
		p := w.order.preferences
		if w.wasted = w.worst.Next(); w.wasted != bargain.NoOutcome && p.IsRational(w.wasted) {
			w.wasted = bargain.NoOutcome
		}
		return
	}
	p := w.order.preferences
	var table []fixed.Number
	if tabled, ok := p.Utility().(bargain.Tabled); ok {
		table = tabled.Table(p.Domain().Len() - 1)
	}
	for w.left > 0 {
		var below bool
		if table != nil {
			w.left, below = lastBelow(p, table, w.left-1)
		} else {
			w.left--
			below = !p.IsRational(bargain.Outcome(w.left))
		}
		if below {
			w.wasted = bargain.Outcome(w.left)
			return
		}
	}
	w.wasted = bargain.NoOutcome
}

// lastBelow returns the last outcome below the reservation value, among upTo and the outcomes before upTo
// that differ only in the last issue. If there is none, it returns the first outcome among these, and false.
// table is the last issue's table. A single outcome's utility gives the least rational part, so every other
// outcome needs only a comparison.
func lastBelow(p *bargain.Preferences, table []fixed.Number, upTo uint64) (uint64, bool) {
	index := upTo % uint64(len(table))
	first := upTo - index
	least := p.Reservation() - p.Of(bargain.Outcome(first)) + table[0]
	for ; index > 0; index-- {
		if table[index] < least {
			return first + index, true
		}
	}
	return first, table[0] < least
}

func (w *wasting) Next(state *bargain.State) bargain.Outcome {
	if w.passed {
		w.advance()
	}
	if w.wasted != bargain.NoOutcome {
		return w.wasted
	}
	return w.conceding.Next(state)
}

func (w *wasting) Sent(o bargain.Outcome) string {
	if w.wasted != bargain.NoOutcome {
		w.passed = true
		return "next outcome below the reservation value: a wasted offer"
	}
	return w.conceding.Sent(o)
}
