package tournament

import (
	"fmt"
	"sync"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
)

// Scenario is the subject of a negotiation between two parties. The first role opens; with Haggle's rules it is
// the buyer.
type Scenario struct {
	// Name identifies the scenario in the plan.
	Name        string
	Preferences [2]*bargain.Preferences
	// Rules holds Haggle's rules. If nil, the alternating offers protocol is used.
	Rules *onchain.Rules
	// Opening is for Haggle's rules: see [onchain.Player].
	Opening [2]fixed.Number

	solving sync.Once
	solved  solutions
}

// informed returns the strategy itself, or the optimal player instead of [game.Complete]. It returns
// [ErrPlan] if the optimal player finds no rules here.
func (s *Scenario) informed(strategy bargain.Strategy) (bargain.Strategy, error) {
	if _, is := strategy.(game.Complete); !is {
		return strategy, nil
	}
	if s.Rules == nil {
		return nil, fmt.Errorf("%w: scenario %q: the optimal player needs Haggle's rules", ErrPlan, s.Name)
	}
	value, cost := s.limit(buyerSide), s.limit(sellerSide)
	cost -= s.Rules.Negotiation().FeeOn(cost)
	return game.Optimal{Haggle: game.Haggle{Rules: *s.Rules, Value: value, Cost: cost}}, nil
}

// limit returns a side's reservation price, a seller's before the fee. If no price is rational, it returns
// the escrow for a seller and 0 for a buyer.
func (s *Scenario) limit(side int) uint64 {
	p := s.Preferences[side]
	if o := p.Inverse().AtLeast(p.Reservation()); o != bargain.NoOutcome {
		return p.Domain().Issue(0).Amount(uint64(o))
	}
	return s.Rules.Escrow * uint64(side)
}

// Source is a list of scenarios that are made when they are needed. Several goroutines can use it.
type Source interface {
	Len() int
	// Scenario returns a scenario, counted from 0. Repeated calls return the same scenario.
	Scenario(at int) (*Scenario, error)
}

// List holds scenarios in memory.
type List []*Scenario

// Len counts the scenarios.
func (l List) Len() int { return len(l) }

// Scenario returns a scenario, counted from 0.
func (l List) Scenario(at int) (*Scenario, error) { return l[at], nil }

// Join concatenates several sources' scenarios.
type Join []Source

// Len counts the scenarios.
func (j Join) Len() (count int) {
	for _, source := range j {
		count += source.Len()
	}
	return count
}

// Scenario returns a scenario, counted from 0.
func (j Join) Scenario(at int) (*Scenario, error) {
	for _, source := range j {
		if at < source.Len() {
			return source.Scenario(at)
		}
		at -= source.Len()
	}
	return nil, fmt.Errorf("%w: the scenario's number is too high", ErrPlan)
}
