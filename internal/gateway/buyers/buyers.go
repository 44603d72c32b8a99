// Package buyers simulates buyers of licences. They bargain with the rules of package engine, for its tests and
// for the report in docs/GATEWAY.md. The same seed gives the same buyer on every machine.
package buyers

import (
	"fmt"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
	"github.com/haggle-protocol/haggle/sdk/bargain"
)

// Kind is a way to buy.
type Kind int

// The kinds. Each buyer opens at the published floor or above it, proposes at most its value, and accepts the
// last counter offer if that is at most its value.
const (
	// LowBaller repeats one price, which is at most three quarters of the preferred one.
	LowBaller Kind = iota
	// Climber raises its price by a constant step, and accepts a counter offer that is at most its next price.
	Climber
	// Random proposes independent random prices.
	Random
	// Mirror raises its price by as much as the publisher's has fallen.
	Mirror
	// Sybils are ten clients of one buyer. Nine probe in turn as low-ballers, climbers and mirrors, and accept no
	// counter offer. The tenth repeats the proposals that led to the lowest counter offer, and accepts that.
	Sybils
	kinds
)

func (k Kind) String() string {
	return [...]string{"low-baller", "climber", "random", "mirror", "ten sybils"}[k]
}

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{LowBaller, Climber, Random, Mirror, Sybils} }

// sybils is the number of clients of [Sybils].
const sybils = 10

// probes are the kinds of the nine. Random prices would often bind the buyer to a high one.
var probes = []Kind{LowBaller, Climber, Mirror}

// Population is the number of buyers in the report and in the tests: the seeds from 0.
const Population = 8_000

// Publisher returns the strategy that the population buys from, which is the document's one, in a style: it accepts
// from 1,000 micro units on, prefers 2,000, asks for at most 5,000 and rejects prices below 500.
func Publisher(style engine.Style) (engine.Strategy, error) {
	s := engine.NewStrategy()
	s.Style, s.PublishedFloor, s.MinPrice, s.PreferredPrice, s.MaxPrice = style, 500, 1_000, 2_000, 5_000
	return s, s.Validate()
}

// Buyer is a buyer. Its proposals contain preferred terms except for the price.
type Buyer struct {
	Kind Kind
	// Value is the highest price that the buyer pays, and Opening its first price; both in micro units.
	Value, Opening uint64
	// Step is the step of a climber, in micro units.
	Step uint64
	// Seed determines the random prices, and the probes of sybils.
	Seed uint64
}

// Draw returns the buyer of a seed. Values lie evenly between the published floor and the maximum price.
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

// Result is the end of a purchase.
type Result struct {
	// Price is the agreed price; 0 without an agreement.
	Price uint64
	// Least is the lowest price that the publisher asked or accepted; the highest number if there was none.
	Least uint64
	// Proposals are the proposals of the purchase, in their order.
	Proposals []uint64
}

// Buy plays the purchase of a new client. It returns an error for an invalid strategy.
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

// session is one negotiation of a new client.
type session struct {
	strategy *engine.Strategy
	state    engine.State
	result   Result
	// asked is the newest counter offer.
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

// bargain plays one negotiation. A buyer that only probes accepts no counter offer.
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

// repeat repeats the proposals of a probe until the publisher asks for its lowest price, and accepts that if it is
// at most the value.
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
