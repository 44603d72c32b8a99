package bidding

import (
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
	return constant(seat.Preferences.Inverse().Best())
}

type constant bargain.Outcome

func (c constant) Next(*bargain.State) bargain.Outcome { return bargain.Outcome(c) }

func (constant) Sent(bargain.Outcome) {}

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

func (*random) Sent(bargain.Outcome) {}

// MiCRO offers the outcomes in the order of falling utility. It makes a new offer only if it has made no more
// different offers than it has received; otherwise it repeats a random one of its own. It has no parameters
// and needs neither time nor a model. It allocates memory in a round only after more than 1,024 different
// offers, or without a limit of steps.
//
// Source: de Jonge: An Analysis of the Linear Bilateral ANAC Domains Using the MiCRO Benchmark Strategy
// (2022); the repeated offer as in NegMAS' MiCROOfferingPolicy.
type MiCRO struct{}

// maxPlanned bounds the number of offers for which MiCRO reserves memory.
const maxPlanned = 1024

// Bidder implements [bargain.Bidding].
func (MiCRO) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder {
	different := int(min(uint64(seat.Steps), seat.Preferences.Domain().Size(), maxPlanned))
	m := &micro{
		seat: seat, cursor: seat.Preferences.Inverse().Descend(), sent: make([]bargain.Outcome, 0, different),
		received: make(map[bargain.Outcome]struct{}, different),
	}
	m.advance()
	return m
}

type micro struct {
	seat     bargain.Seat
	cursor   bargain.Cursor
	next     bargain.Outcome
	sent     []bargain.Outcome
	received map[bargain.Outcome]struct{}
	observed int
}

func (m *micro) advance() {
	m.next = m.cursor.Next()
	if m.next != bargain.NoOutcome && !m.seat.Preferences.IsRational(m.next) {
		m.next = bargain.NoOutcome
	}
}

func (m *micro) Next(state *bargain.State) bargain.Outcome {
	for ; m.observed < len(state.History); m.observed++ {
		if offer := state.History[m.observed]; offer.By != m.seat.Self {
			m.received[offer.Outcome] = struct{}{}
		}
	}
	if m.next != bargain.NoOutcome && len(m.sent) <= len(m.received) {
		return m.next
	}
	if len(m.sent) == 0 {
		return bargain.NoOutcome
	}
	return m.sent[m.seat.Random.Below(uint64(len(m.sent)))]
}

func (m *micro) Sent(o bargain.Outcome) {
	if o == m.next {
		m.sent = append(m.sent, o)
		m.advance()
	}
}

// Conceding offers the outcomes in the order of falling utility, one in each turn, and then repeats the last
// rational one. It is the bidding of NegMAS' CAB, CAN and CAR.
//
// Source: Mohammad: Generalized Bargaining Protocols (2023); NegMAS, CABOfferingPolicy.
type Conceding struct{}

// Bidder implements [bargain.Bidding].
func (Conceding) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder {
	return newConceding(seat)
}

func newConceding(seat bargain.Seat) *conceding {
	cursor := seat.Preferences.Inverse().Descend()
	c := &conceding{preferences: seat.Preferences, cursor: cursor, last: bargain.NoOutcome}
	c.advance()
	return c
}

type conceding struct {
	preferences *bargain.Preferences
	cursor      bargain.Cursor
	last, next  bargain.Outcome
}

func (c *conceding) advance() {
	c.next = c.cursor.Next()
	if c.next == bargain.NoOutcome || !c.preferences.IsRational(c.next) {
		c.next = c.last
	}
}

func (c *conceding) Next(*bargain.State) bargain.Outcome { return c.next }

func (c *conceding) Sent(o bargain.Outcome) {
	if o != c.last {
		c.last = o
		c.advance()
	}
}

// Wasting first offers the outcomes below the reservation value, and then does as [Conceding]. It is the
// bidding of NegMAS' WAB, WAN and WAR, and the only one that offers below the reservation value: a party that
// can accept such an offer gains by it.
//
// As in NegMAS, the order of the first offers is that of falling numbers of the outcomes, not of utility. In
// domains with more than 2^20 outcomes, which NegMAS does not enumerate, the worst one is first.
//
// Source: Mohammad: Generalized Bargaining Protocols (2023); NegMAS 0.16, WAROfferingPolicy.
type Wasting struct{}

// maxWasted is the number of outcomes up to which the order is that of their numbers.
const maxWasted = 1 << 20

// Bidder implements [bargain.Bidding].
func (Wasting) Bidder(seat bargain.Seat, _ bargain.Model) bargain.Bidder {
	w := &wasting{conceding: newConceding(seat)}
	if size := seat.Preferences.Domain().Size(); size <= maxWasted {
		w.left = size
	} else {
		w.worst = seat.Preferences.Inverse().Ascend()
	}
	w.advance()
	return w
}

type wasting struct {
	*conceding
	// left is the number of outcomes that wasted has not passed yet. In large domains worst has them.
	left  uint64
	worst bargain.Cursor
	// wasted is the next outcome below the reservation value, or NoOutcome.
	wasted bargain.Outcome
}

func (w *wasting) advance() {
	if w.worst != nil {
		if w.wasted = w.worst.Next(); w.wasted != bargain.NoOutcome && w.preferences.IsRational(w.wasted) {
			w.wasted = bargain.NoOutcome
		}
		return
	}
	for w.left > 0 {
		w.left--
		if w.wasted = bargain.Outcome(w.left); !w.preferences.IsRational(w.wasted) {
			return
		}
	}
	w.wasted = bargain.NoOutcome
}

func (w *wasting) Next(state *bargain.State) bargain.Outcome {
	if w.wasted != bargain.NoOutcome {
		return w.wasted
	}
	return w.conceding.Next(state)
}

func (w *wasting) Sent(o bargain.Outcome) {
	if w.wasted != bargain.NoOutcome {
		w.advance()
		return
	}
	w.conceding.Sent(o)
}
