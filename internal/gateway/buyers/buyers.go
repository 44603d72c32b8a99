// Package buyers simulates buyers of licenses. They bargain with the rules in package engine, for the engine
// tests and for the report in docs/GATEWAY.md. The same seed gives the same buyer on every machine.
package buyers

import (
	"fmt"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
	"github.com/haggle-protocol/haggle/sdk/bargain"
)

// Kind is a way to buy.
type Kind int

// Buyer kinds. Each buyer opens with the published floor or more, never proposes more than the value, and
// accepts the last counter offer if the value covers it.
const (
	// LowBaller repeats a price of up to three quarters of the preferred price.
	LowBaller Kind = iota
	// Climber raises the price by a constant step, and accepts a counter offer not above the next price.
	Climber
	// Random proposes independent random prices.
	Random
	// Mirror raises the price by as much as the publisher's price fell.
	Mirror
	// Sybils are a buyer's ten clients. Nine probe in turn as low-ballers, climbers and mirrors, and accept
	// no counter offer. The tenth repeats the proposals that led to the lowest counter offer, and accepts
	// that price.
	Sybils
	kinds
)

func (k Kind) String() string {
	return [...]string{"low-baller", "climber", "random", "mirror", "ten sybils"}[k]
}

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{LowBaller, Climber, Random, Mirror, Sybils} }

// sybils counts the clients of [Sybils].
const sybils = 10

// probes lists the kinds of the nine. Random prices would often bind the buyer to a high price.
var probes = []Kind{LowBaller, Climber, Mirror}

// Population is the number of buyers in the report and the tests, with seeds from 0.
const Population = 8_000

// Publisher returns the document's strategy, used by the population, in a style: it accepts 1,000 micro units
// or more, prefers 2,000, asks for up to 5,000 and rejects prices below 500.
func Publisher(style engine.Style) (engine.Strategy, error) {
	s := engine.NewStrategy()
	s.Style, s.PublishedFloor, s.MinPrice, s.PreferredPrice, s.MaxPrice = style, 500, 1_000, 2_000, 5_000
	return s, s.Validate()
}

// Buyer is a buyer. Proposals contain preferred terms except for the price.
type Buyer struct {
	Kind Kind
	// Value is the highest price that the buyer pays, and Opening the first price, both in micro units.
	Value, Opening uint64
	// Step is a climber's step, in micro units.
	Step uint64
	// Seed determines the random prices, and the probes of sybils.
	Seed uint64
}

// Draw returns the buyer for a seed. Values lie evenly between the published floor and the maximum price.
func Draw(s *engine.Strategy, seed uint64) Buyer {
	return draw(s, Kind(seed%uint64(kinds)), seed, bargain.NewRandom(seed, 0))
}

func draw(s *engine.Strategy, kind Kind, seed uint64, random *bargain.Random) Buyer {
	floor := s.Floor()
	b := Buyer{Kind: kind, Value: floor + random.Below(s.MaxPrice-floor+1), Opening: floor, Seed: seed}
	switch kind {
	case LowBaller:
		b.Opening += random.Below(s.PreferredPrice*3/4 - floor + 1)
	case Climber:
		b.Opening += random.Below(s.PreferredPrice/2 - min(floor, s.PreferredPrice/2) + 1)
		b.Step = 1 + random.Below(s.PreferredPrice/5)
	case Random, Mirror, Sybils:
	}
	b.Opening = min(b.Opening, b.Value)
	return b
}

// Result describes a purchase's outcome.
type Result struct {
	// Price is the agreed price; 0 if there was no agreement.
	Price uint64
	// Least is the lowest price that the publisher asked or accepted; the largest uint64 if none.
	Least uint64
	// Proposals lists the proposed prices in order.
	Proposals []uint64
}

// Buy plays a new client's purchase. It returns an error for an invalid strategy.
func (b Buyer) Buy(s *engine.Strategy) (Result, error) {
	if b.Kind != Sybils {
		return b.bargain(s, true)
	}
	best := Result{Least: ^uint64(0)}
	random := bargain.NewRandom(b.Seed, 1)
	for range sybils - 1 {
		probe := draw(s, probes[random.Below(uint64(len(probes)))], random.Uint64(), random)
		probe.Value = b.Value
		probe.Opening = min(probe.Opening, b.Value)
		found, err := probe.bargain(s, false)
		if err != nil || found.Price > 0 {
			return found, err // the publisher accepted a proposal, which binds
		}
		if found.Least < best.Least {
			best = found
		}
	}
	return b.repeat(s, best)
}

// session is a new client's negotiation.
type session struct {
	strategy *engine.Strategy
	state    engine.State
	result   Result
	// asked holds the newest counter offer.
	asked uint64
	over  bool
}

// propose sends a price.
func (n *session) propose(price uint64) error {
	proposal := terms.Terms{
		Price: price, TTLSeconds: n.strategy.PreferredTTLSeconds, BurstRPS: n.strategy.PreferredBurstRPS,
		Purposes: n.strategy.PreferredPurposes,
	}
	decision, err := engine.Respond(n.strategy, n.state, proposal)
	if err != nil {
		return fmt.Errorf("proposal of %d: %w", price, err)
	}
	n.state = n.state.Next(proposal, decision)
	n.result.Proposals = append(n.result.Proposals, price)
	if decision.Terms != nil {
		n.result.Least = min(n.result.Least, decision.Terms.Price)
	}
	switch decision.Action {
	case engine.Counter:
		n.asked = decision.Terms.Price
	case engine.Accept, engine.Approve:
		n.result.Price, n.over = price, true
	default:
		n.over = true
	}
	return nil
}

// bargain plays a negotiation. A buyer that only probes accepts no counter offer.
func (b Buyer) bargain(s *engine.Strategy, accepts bool) (Result, error) {
	n := &session{strategy: s, result: Result{Least: ^uint64(0)}}
	random := bargain.NewRandom(b.Seed, 2)
	price := b.Opening
	for range s.MaxRounds {
		if b.Kind == Random {
			price = s.Floor() + random.Below(b.Value-s.Floor()+1)
		}
		before := n.asked
		if err := n.propose(price); err != nil || n.over {
			return n.result, err
		}
		switch b.Kind {
		case Climber:
			price = min(price+b.Step, b.Value)
			if accepts && n.asked <= price {
				n.result.Price = n.asked
				return n.result, nil
			}
		case Mirror:
			if before > n.asked {
				price = min(price+before-n.asked, b.Value)
			}
		}
	}
	if accepts && n.asked <= b.Value {
		n.result.Price = n.asked
	}
	return n.result, nil
}

// repeat repeats a probe's proposals until the publisher asks for the lowest price found, and accepts the
// price if the value covers it.
func (b Buyer) repeat(s *engine.Strategy, probe Result) (Result, error) {
	n := &session{strategy: s, result: Result{Least: ^uint64(0)}}
	for _, price := range probe.Proposals {
		if err := n.propose(price); err != nil || n.over {
			return n.result, err
		}
		if n.asked == probe.Least {
			break
		}
	}
	if n.asked <= b.Value {
		n.result.Price = n.asked
	}
	return n.result, nil
}
