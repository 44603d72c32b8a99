package tournament

import (
	"cmp"
	"math/big"
	"slices"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Stats adds up the blocks of a plan, in their order. Its memory does not grow with the number of scenarios.
type Stats struct {
	plan     *Plan
	blocks   int
	sessions int
	entrants []entrantStats
	// scenario has the sums of the scenario whose blocks are being added, for each entrant.
	scenario []scenarioSum
	// products are sums over the scenarios of the products of two entrants' mean advantages, for each entrant with
	// those before it.
	products [][]big.Int
	pairs    [][]pair
	plots    []ScenarioPlot
}

// entrantStats are the sums of a strategy.
type entrantStats struct {
	sessions, agreements int64
	utility              big.Int
	// means and squares are sums over the scenarios of the mean advantage and its square.
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

// mean returns nil without a distance.
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

// plottedScenarios is the number of scenarios, evenly spaced, whose agreements are kept.
const plottedScenarios = 4

// isPlotted reports whether the agreements of a scenario are kept.
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

// ScenarioPlot has the agreements of one scenario.
type ScenarioPlot struct {
	// Scenario is its number in the plan's source.
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

// Add adds the next block.
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

// endScenario adds the means of a scenario to the sums over scenarios.
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

// Difference returns the difference of two entrants' scores, and half the width of its confidence interval: Student's
// interval of 95 % for the mean of the differences in each scenario. Scenarios differ more than strategies do, so that
// this paired interval is narrower than those of the scores. It returns false with fewer than two scenarios.
func (s *Stats) Difference(entrant, other int) (difference, half fixed.Number, ok bool) {
	if entrant == other {
		return 0, 0, s.entrants[entrant].scenarios > 1
	}
	a, b, count := &s.entrants[entrant], &s.entrants[other], s.entrants[entrant].scenarios
	// The sum of (x - y)^2 is that of x^2 + y^2 - 2xy.
	var sum, squares, product big.Int
	sum.Sub(&a.means, &b.means)
	squares.Add(&a.squares, &b.squares)
	product.Lsh(&s.products[max(entrant, other)][min(entrant, other)], 1)
	squares.Sub(&squares, &product)
	half, ok = margin(&sum, &squares, count)
	return mean(&sum, count), half, ok
}

// mean returns a sum divided by a count, rounded down; 0 without a count.
func mean(sum *big.Int, count int64) fixed.Number {
	if count == 0 {
		return 0
	}
	return fixed.Number(new(big.Int).Div(sum, big.NewInt(count)).Int64())
}

// Score is the result of a strategy.
type Score struct {
	Name string
	// Advantage is the score, by which strategies are ranked: the mean over the scenarios of the mean
	// advantage in the scenario. Scenarios that are not complete do not count.
	Advantage fixed.Number
	// Margin is half the width of the score's confidence interval: see [Stats.Scores]. HasMargin is false
	// with fewer than two scenarios.
	Margin    fixed.Number
	HasMargin bool
	// Behind is by how much the best score is higher, and BehindMargin half the width of its confidence interval: see
	// [Stats.Difference]. If BehindMargin is at least Behind, these scenarios do not tell the strategy from the best one.
	Behind, BehindMargin fixed.Number
	// Value is the mean discounted utility of all sessions.
	Value fixed.Number
	// AgreementRate is the part of its sessions with an agreement.
	AgreementRate fixed.Number
	// NashDistance and ParetoDistance are the means over its agreements that have them: see [Session]. They
	// are nil without such an agreement.
	NashDistance, ParetoDistance *fixed.Number
	Sessions, Agreements         int64
	Scenarios                    int64
}

// Scores returns the scores, the best first, and equal ones by their names.
//
// The confidence interval of a score is Advantage +- Margin, with a level of 95 %. It is Student's interval
// for the mean of the scenarios' means: sessions of the same scenario depend on each other, scenarios do not.
// It covers other scenarios of the same kind, against the same opponents.
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

// Against returns the mean advantage of a strategy against another one, in all sessions of both roles, and
// the part of the sessions with an agreement. It returns false if they have no sessions.
func (s *Stats) Against(entrant, other int) (advantage, agreementRate fixed.Number, ok bool) {
	p := &s.pairs[entrant][other]
	if p.sessions == 0 {
		return 0, 0, false
	}
	return mean(&p.advantage, p.sessions), fixed.Ratio(p.agreements, p.sessions), true
}

// Point is a point of a curve over the relative time.
type Point struct {
	Time, Value fixed.Number
}

// Concession returns the mean level of a strategy's own offers over time: 1 is its best outcome, 0 its
// reservation value. Parts of the time without offers have no point. Offers of finished sessions are missing,
// so late points are those of long sessions.
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

// AgreementOverTime returns the part of a strategy's sessions that have an agreement by the end of each part
// of the time.
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

// Plots returns the agreements of up to four scenarios, evenly spaced.
func (s *Stats) Plots() []ScenarioPlot { return s.plots }
