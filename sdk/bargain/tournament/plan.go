// Package tournament plays strategies against each other over many scenarios and computes their scores.
//
// A [Plan] divides into blocks: the sessions played by a strategy in the first role against all opponents, in
// a single scenario. Blocks depend on the plan alone. [Plan.Run] plays blocks on several goroutines and
// returns them sorted, keeping only a few blocks in memory; [Stats] sums the blocks. Results are therefore
// the same for every number of goroutines, and blocks played by another process count as well.
package tournament

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain"
)

// ErrPlan reports an unplayable plan.
var ErrPlan = errors.New("tournament: invalid plan")

// Plan limits, bounding time and memory.
const (
	// MaxSteps limits deadlines.
	MaxSteps = 100_000
	// MaxScenarioSessions limits the sessions by all pairs in a scenario.
	MaxScenarioSessions = 100_000
	// MaxSessions limits the number of sessions.
	MaxSessions = 1_000_000_000
)

// Entrant is a named strategy.
type Entrant struct {
	Name     string
	Strategy bargain.Strategy
}

// Plan is what a tournament plays. It must not change while it is used.
type Plan struct {
	Entrants  []Entrant
	Scenarios Source
	// Seed decides the sessions' random numbers, but not the scenarios.
	Seed uint64
	// Steps is the scenarios' default deadline, up to [MaxSteps]. If zero, 100 is used.
	Steps int
	// Repetitions is the number of sessions per pair, role and scenario, with different random numbers. If
	// zero, 1 is used. [MaxScenarioSessions] limits it.
	Repetitions int
	// SelfPlay adds sessions where a strategy plays itself.
	SelfPlay bool
	// PriceStep is the price step for strategies that concede rank by rank, in scenarios with Haggle's rules:
	// see [onchain.Player]. If zero, the step depends on the terms.
	PriceStep uint64
}

func (p *Plan) steps() int {
	if p.Steps == 0 {
		return 100
	}
	return p.Steps
}

func (p *Plan) repetitions() int { return max(p.Repetitions, 1) }

// Check returns [ErrPlan] if the plan contains no sessions, exceeds a limit, or lists two entrants with the
// same name.
func (p *Plan) Check() error {
	names := map[string]bool{}
	for _, entrant := range p.Entrants {
		switch {
		case entrant.Name == "" || entrant.Strategy == nil:
			return fmt.Errorf("%w: a name or a strategy is missing", ErrPlan)
		case names[entrant.Name]:
			return fmt.Errorf("%w: strategy %q is listed twice", ErrPlan, entrant.Name)
		}
		names[entrant.Name] = true
	}
	pairs := len(p.Entrants) * p.opponents()
	switch {
	case p.Scenarios == nil || p.Scenarios.Len() == 0:
		return fmt.Errorf("%w: there are no scenarios", ErrPlan)
	case len(p.Entrants) == 0:
		return fmt.Errorf("%w: there are no strategies", ErrPlan)
	case pairs == 0:
		return fmt.Errorf("%w: a single strategy has no opponent: add another one, or self-play", ErrPlan)
	case p.Steps < 0 || p.Steps > MaxSteps:
		return fmt.Errorf("%w: %d rounds: the limit is %d", ErrPlan, p.Steps, MaxSteps)
	case p.Repetitions < 0 || p.repetitions() > MaxScenarioSessions/pairs:
		return fmt.Errorf("%w: %d repetitions: with %d pairs of strategies the limit is %d",
			ErrPlan, p.Repetitions, pairs, MaxScenarioSessions/pairs)
	case p.Scenarios.Len() > MaxSessions/(pairs*p.repetitions()):
		return fmt.Errorf("%w: %d scenarios: with %d sessions in each the limit is %d", ErrPlan,
			p.Scenarios.Len(), pairs*p.repetitions(), MaxSessions/(pairs*p.repetitions()))
	}
	return nil
}

// opponents returns the number of opponents per strategy.
func (p *Plan) opponents() int {
	if p.SelfPlay {
		return len(p.Entrants)
	}
	return max(len(p.Entrants)-1, 0)
}

// Blocks returns the number of blocks.
func (p *Plan) Blocks() int { return p.Scenarios.Len() * len(p.Entrants) }

// Sessions returns the number of sessions.
func (p *Plan) Sessions() int { return p.Blocks() * p.BlockSessions() }

// BlockSessions returns the number of sessions in each block.
func (p *Plan) BlockSessions() int { return p.opponents() * p.repetitions() }

// position returns a block's scenario and first strategy.
func (p *Plan) position(block int) (scenario, first int) {
	return block / len(p.Entrants), block % len(p.Entrants)
}

// sessionSeed returns a session's seed. It depends on names, not on numbers, so sessions stay the same in
// tournaments with fewer strategies or scenarios.
func (p *Plan) sessionSeed(scenario string, first, second, repetition int) uint64 {
	text := fmt.Appendf(nil, "haggle-tournament %d %q %q %q %d",
		p.Seed, scenario, p.Entrants[first].Name, p.Entrants[second].Name, repetition)
	sum := sha256.Sum256(text)
	return binary.LittleEndian.Uint64(sum[:8])
}
