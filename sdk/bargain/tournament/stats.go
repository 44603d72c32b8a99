package tournament

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Stats sums a plan's blocks, in sequence. Memory does not grow with the number of scenarios.
type Stats struct {
	plan     *Plan
	blocks   int
	sessions int
	entrants []entrantStats
	// scenario holds the current scenario's sums, per entrant.
	scenario []scenarioSum
	// products holds the products of two entrants' mean advantages, summed over the scenarios, pairing every
	// entrant with all earlier entrants.
	products [][]big.Int
	pairs    [][]pair
	plots    []ScenarioPlot
}

// entrantStats holds a strategy's sums.
type entrantStats struct {
	sessions, agreements int64
	utility              big.Int
	// means and squares sum the mean advantage and the squared mean advantage over the scenarios.
	means, squares big.Int
	scenarios      int64
	nash, pareto   distances
	curve          Curve
	// agreed counts agreements by time.
	agreed [Buckets]int64
}

// distances are a sum of distances of agreements.
type distances struct {
	sum   big.Int
	count int64
}

func (d *distances) add(distance *fixed.Number) {
	if distance != nil {
		d.sum.Add(&d.sum, big.NewInt(int64(*distance)))
		d.count++
	}
}

// mean returns nil for no distances.
func (d *distances) mean() *fixed.Number {
	if d.count == 0 {
		return nil
	}
	return new(mean(&d.sum, d.count))
}

type scenarioSum struct {
	advantage big.Int
	sessions  int64
}

type pair struct {
	advantage            big.Int
	sessions, agreements int64
}

// plottedScenarios is the number of evenly spaced scenarios that keep their agreements.
const plottedScenarios = 4

// isPlotted reports whether a scenario's agreements are kept.
func (s *Stats) isPlotted(scenario int) bool {
	count := s.plan.Scenarios.Len()
	shown := min(count, plottedScenarios)
	for at := range shown {
		if scenario == at*count/shown {
			return true
		}
	}
	return false
}

// ScenarioPlot holds a scenario's agreements.
type ScenarioPlot struct {
	// Scenario numbers the scenario in the plan.
	Scenario int
	Name     string
	// Agreements count how often each outcome was agreed.
	Agreements map[bargain.Outcome]int
}

// NewStats returns statistics without blocks.
func (p *Plan) NewStats() *Stats {
	s := &Stats{
		plan: p, entrants: make([]entrantStats, len(p.Entrants)),
		scenario: make([]scenarioSum, len(p.Entrants)), pairs: make([][]pair, len(p.Entrants)),
	}
	for at := range s.pairs {
		s.pairs[at] = make([]pair, len(p.Entrants))
		s.products = append(s.products, make([]big.Int, at))
	}
	return s
}

// Add adds the block that follows.
func (s *Stats) Add(block *Block) {
	scenario, first := s.plan.position(block.Number)
	if first == 0 && s.isPlotted(scenario) {
		s.plots = append(s.plots, ScenarioPlot{scenario, block.Scenario, map[bargain.Outcome]int{}})
	}
	var agreements map[bargain.Outcome]int
	if last := len(s.plots) - 1; last >= 0 && s.plots[last].Scenario == scenario {
		agreements = s.plots[last].Agreements
	}
	for i := range block.Sessions {
		session := &block.Sessions[i]
		if agreements != nil && session.Ending == bargain.EndingAgreement {
			agreements[session.Agreement]++
		}
		s.addSession(session)
	}
	for at := range block.Curves {
		s.entrants[at].curve.merge(&block.Curves[at])
	}
	s.blocks++
	s.sessions += len(block.Sessions)
	if first == len(s.plan.Entrants)-1 {
		s.endScenario()
	}
}

func (s *Stats) addSession(session *Session) {
	agreed := int64(0)
	if session.Ending == bargain.EndingAgreement {
		agreed = 1
	}
	for role, at := range session.Strategies {
		advantage := big.NewInt(int64(session.Advantages[role]))
		entrant := &s.entrants[at]
		entrant.sessions++
		entrant.agreements += agreed
		entrant.utility.Add(&entrant.utility, big.NewInt(int64(session.Values[role])))
		entrant.nash.add(session.NashDistance)
		entrant.pareto.add(session.ParetoDistance)
		entrant.agreed[bucket(session.Time)] += agreed
		s.scenario[at].advantage.Add(&s.scenario[at].advantage, advantage)
		s.scenario[at].sessions++
		pair := &s.pairs[at][session.Strategies[1-role]]
		pair.advantage.Add(&pair.advantage, advantage)
		pair.sessions++
		pair.agreements += agreed
	}
}

// endScenario adds a scenario's means to the sums over scenarios.
func (s *Stats) endScenario() {
	means := make([]*big.Int, len(s.scenario))
	for at := range s.scenario {
		sum := &s.scenario[at]
		means[at] = big.NewInt(int64(mean(&sum.advantage, sum.sessions)))
		entrant := &s.entrants[at]
		entrant.means.Add(&entrant.means, means[at])
		var product big.Int
		entrant.squares.Add(&entrant.squares, product.Mul(means[at], means[at]))
		for other := range at {
			sum := &s.products[at][other]
			sum.Add(sum, product.Mul(means[at], means[other]))
		}
		entrant.scenarios++
		*sum = scenarioSum{}
	}
}

// Difference returns the difference between two entrants' scores, and half the confidence interval's width:
// Student's 95 % interval for the mean of the per-scenario differences. Scenarios differ more than strategies
// do, so this paired interval is narrower than the scores' intervals. It returns false for fewer than two
// scenarios.
func (s *Stats) Difference(entrant, other int) (difference, half fixed.Number, ok bool) {
	if entrant == other {
		return 0, 0, s.entrants[entrant].scenarios > 1
	}
	a, b, count := &s.entrants[entrant], &s.entrants[other], s.entrants[entrant].scenarios
	// The sum of (x - y)^2 equals the sum of x^2 + y^2 - 2xy.
	var sum, squares, product big.Int
	sum.Sub(&a.means, &b.means)
	squares.Add(&a.squares, &b.squares)
	product.Lsh(&s.products[max(entrant, other)][min(entrant, other)], 1)
	squares.Sub(&squares, &product)
	half, ok = margin(&sum, &squares, count)
	return mean(&sum, count), half, ok
}

// mean returns sum / count, rounded down, or 0 if count is 0.
func mean(sum *big.Int, count int64) fixed.Number {
	if count == 0 {
		return 0
	}
	return fixed.Number(new(big.Int).Div(sum, big.NewInt(count)).Int64())
}

// Score is a strategy's result.
type Score struct {
	Name string
	// Advantage is the score that ranks strategies: the scenarios' mean advantages, averaged over the
	// scenarios. Incomplete scenarios do not count.
	Advantage fixed.Number
	// Margin is half the width of the score's confidence interval: see [Stats.Scores]. HasMargin is false
	// with fewer than two scenarios.
	Margin    fixed.Number
	HasMargin bool
	// Behind is the distance to the best score, and BehindMargin half the confidence interval's width: see
	// [Stats.Difference]. If BehindMargin >= Behind, these scenarios do not distinguish the strategy from the
	// best strategy.
	Behind, BehindMargin fixed.Number
	// Value is the mean discounted utility of all sessions.
	Value fixed.Number
	// AgreementRate is the share of sessions with an agreement.
	AgreementRate fixed.Number
	// NashDistance and ParetoDistance are means over all agreements with known distances: see [Session]. They
	// are nil if there are none.
	NashDistance, ParetoDistance *fixed.Number
	Sessions, Agreements         int64
	Scenarios                    int64
}

// Scores returns the scores, the best first, and equal ones by their names.
//
// A score's 95 % confidence interval is Advantage +- Margin. It is Student's interval for the mean of the
// scenarios' means: sessions in the same scenario depend on each other, scenarios do not. It covers other
// scenarios of the same kind, against the same opponents.
func (s *Stats) Scores() []Score {
	scores := make([]Score, len(s.entrants))
	for at := range s.entrants {
		e := &s.entrants[at]
		scores[at] = Score{
			Name: s.plan.Entrants[at].Name, Advantage: mean(&e.means, e.scenarios),
			Value: mean(&e.utility, e.sessions), Sessions: e.sessions, Agreements: e.agreements,
			AgreementRate: fixed.Ratio(e.agreements, max(e.sessions, 1)), Scenarios: e.scenarios,
			NashDistance: e.nash.mean(), ParetoDistance: e.pareto.mean(),
		}
		scores[at].Margin, scores[at].HasMargin = margin(&e.means, &e.squares, e.scenarios)
	}
	order := make([]int, len(scores))
	for at := range order {
		order[at] = at
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(scores[b].Advantage, scores[a].Advantage), strings.Compare(scores[a].Name, scores[b].Name))
	})
	ranked := make([]Score, len(scores))
	for rank, at := range order {
		ranked[rank] = scores[at]
		ranked[rank].Behind, ranked[rank].BehindMargin, _ = s.Difference(order[0], at)
	}
	return ranked
}

// Against returns a strategy's mean advantage against another strategy, over all sessions in both roles, and
// the share of sessions with an agreement. It returns false for no such sessions.
func (s *Stats) Against(entrant, other int) (advantage, agreementRate fixed.Number, ok bool) {
	p := &s.pairs[entrant][other]
	if p.sessions == 0 {
		return 0, 0, false
	}
	return mean(&p.advantage, p.sessions), fixed.Ratio(p.agreements, p.sessions), true
}

// Point is a curve point over relative time.
type Point struct {
	Time, Value fixed.Number
}

// Concession returns the mean level of a strategy's own offers over time: 1 means the best outcome, 0 the
// reservation value. Time buckets with no offers yield no point. Finished sessions contribute no later offers,
// so late points stem from long sessions.
func (s *Stats) Concession(entrant int) (points []Point) {
	curve := &s.entrants[entrant].curve
	for at, offers := range curve.Offers {
		if offers > 0 {
			level := fixed.Number(curve.Levels[at]/offers) * levelUnit
			points = append(points, Point{fixed.Ratio(int64(2*at+1), 2*Buckets), level})
		}
	}
	return points
}

// AgreementOverTime returns, per time bucket, the share of a strategy's sessions that reach agreement by the
// bucket's end.
func (s *Stats) AgreementOverTime(entrant int) []Point {
	e := &s.entrants[entrant]
	return cumulated(e.agreed, e.sessions)
}

// TotalOverTime is AgreementOverTime of all sessions.
func (s *Stats) TotalOverTime() []Point {
	var agreed [Buckets]int64
	sessions := int64(0)
	for at := range s.entrants {
		sessions += s.entrants[at].sessions
		for bucket, count := range s.entrants[at].agreed {
			agreed[bucket] += count
		}
	}
	return cumulated(agreed, sessions)
}

func cumulated(agreed [Buckets]int64, sessions int64) []Point {
	points := []Point{{}}
	sum := int64(0)
	for at, count := range agreed {
		sum += count
		points = append(points, Point{fixed.Ratio(int64(at)+1, Buckets), fixed.Ratio(sum, max(sessions, 1))})
	}
	return points
}

// Blocks returns the number of blocks that have been added.
func (s *Stats) Blocks() int { return s.blocks }

// Sessions returns the number of sessions that have been added.
func (s *Stats) Sessions() int { return s.sessions }

// Plots returns the agreements in up to four evenly spaced scenarios.
func (s *Stats) Plots() []ScenarioPlot { return s.plots }
