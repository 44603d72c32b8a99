package tournament_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

func entrants(names ...string) (list []tournament.Entrant) {
	named := strategy.Named()
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(named))
	}
	for _, name := range names {
		list = append(list, tournament.Entrant{Name: name, Strategy: named[name]})
	}
	return list
}

// written plays a plan and returns the blocks as JSON, and the statistics.
func written(t *testing.T, plan *tournament.Plan, workers, from int) (string, *tournament.Stats) {
	t.Helper()
	var out bytes.Buffer
	stats := plan.NewStats()
	require.NoError(t, plan.Run(t.Context(), workers, from, func(block *tournament.Block) error {
		stats.Add(block)
		return json.NewEncoder(&out).Encode(block)
	}))
	return out.String(), stats
}

// TestTheResultDoesNotDependOnTheWorkers plays every strategy.
func TestTheResultDoesNotDependOnTheWorkers(t *testing.T) {
	plan := &tournament.Plan{
		Entrants: entrants(), Seed: 5, Steps: 20, SelfPlay: true,
		Scenarios: tournament.Join{tournament.Random{Seed: 3, Count: 2}, tournament.Haggle{Seed: 3, Count: 2}},
	}
	one, stats := written(t, plan, 1, 0)
	require.Equal(t, plan.Blocks(), stats.Blocks())
	require.Equal(t, plan.Sessions(), stats.Sessions())
	many, again := written(t, plan, 7, 0)
	require.True(t, one == many, "the blocks differ")
	require.Equal(t, stats.Scores(), again.Scores())

	// Blocks that were played elsewhere give the same statistics.
	read, decoder := plan.NewStats(), json.NewDecoder(bytes.NewBufferString(one))
	for decoder.More() {
		block := new(tournament.Block)
		require.NoError(t, decoder.Decode(block))
		read.Add(block)
	}
	require.Equal(t, stats, read)
	rest, _ := written(t, plan, 3, plan.Blocks()-5)
	require.True(t, len(rest) > 0 && one[len(one)-len(rest):] == rest, "the last blocks differ")
}

func TestSessionsDoNotDependOnOtherStrategies(t *testing.T) {
	sessions := func(names ...string) map[uint64]tournament.Session {
		plan := &tournament.Plan{Entrants: entrants(names...), Scenarios: tournament.Random{Count: 2}, Steps: 10}
		found := map[uint64]tournament.Session{}
		require.NoError(t, plan.Run(t.Context(), 2, 0, func(block *tournament.Block) error {
			for _, session := range block.Sessions {
				session.Strategies = [2]int{}
				found[session.Seed] = session
			}
			return nil
		}))
		return found
	}
	all := sessions("micro", "random", "car")
	few := sessions("random", "car")
	require.Len(t, few, 4)
	for seed, session := range few {
		require.Equal(t, all[seed], session)
	}
}

// TestScoresOfASplit plays strategies that share the gain in a known way.
func TestScoresOfASplit(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 10, 1))
	require.NoError(t, err)
	s := &tournament.Scenario{Name: "split"}
	for role := range s.Preferences {
		line, err := utility.PriceLine(domain, role == 1)
		require.NoError(t, err)
		s.Preferences[role], err = bargain.NewPreferences(domain, line, 0)
		require.NoError(t, err)
	}
	plan := &tournament.Plan{Entrants: entrants("hardliner", "car"), Scenarios: tournament.List{s, s}}
	_, stats := written(t, plan, 2, 0)
	scores := stats.Scores()
	require.Equal(t, "hardliner", scores[0].Name)
	// The opponent accepts every rational outcome, even at no gain.
	require.Equal(t, fixed.One, scores[0].Advantage)
	require.Zero(t, scores[1].Advantage)
	require.Equal(t, fixed.One, scores[0].AgreementRate)
	require.Equal(t, int64(4), scores[0].Sessions)
	require.True(t, scores[0].HasMargin)
	require.Zero(t, scores[0].Margin, "both scenarios are the same")
	advantage, rate, ok := stats.Against(0, 1)
	require.True(t, ok)
	require.Equal(t, scores[0].Advantage, advantage)
	require.Equal(t, scores[0].AgreementRate, rate)
	_, _, ok = stats.Against(0, 0)
	require.False(t, ok)
	require.Equal(t, fixed.One, stats.Concession(0)[0].Value)
	require.Len(t, stats.Plots(), 2)
}

// TestSessionsAreWorthTheirDiscountedUtility plays sessions with three steps. Agreement in the first step, at
// time 1/4, is worth 1/16^(1/4) = 1/2 times the utility. No agreement, at time 1, is worth 1/16 of the
// reservation value 0.2, or 0.2 less a cost for all three steps.
func TestSessionsAreWorthTheirDiscountedUtility(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 10, 1))
	require.NoError(t, err)
	fifth, sixteenth := fixed.One/5, fixed.One/16
	for name, test := range map[string]struct {
		discount        bargain.Discount
		agreement, none float64
	}{
		"over time":      {bargain.Discount{Factor: sixteenth}, .5, .0125},
		"kept":           {bargain.Discount{Factor: sixteenth, KeepReservation: true}, .5, .2},
		"a cost a step":  {bargain.Discount{Cost: fifth / 4, PerStep: true}, 1, .05},
		"a cost of time": {bargain.Discount{Cost: fifth}, .95, 0},
	} {
		s := &tournament.Scenario{Name: name}
		for role, reservation := range []fixed.Number{fifth, 0} {
			line, err := utility.PriceLine(domain, role == 1)
			require.NoError(t, err)
			s.Preferences[role], err = bargain.NewDiscounted(domain, line, reservation, test.discount)
			require.NoError(t, err)
		}
		plan := &tournament.Plan{
			Entrants: entrants("hardliner", "car"), Scenarios: tournament.List{s}, Steps: 3, SelfPlay: true,
		}
		for second, want := range []struct {
			ending  bargain.Ending
			utility fixed.Number
			value   float64
		}{{bargain.EndingDeadline, fifth, test.none}, {bargain.EndingAgreement, fixed.One, test.agreement}} {
			_, session, err := plan.Trace(s, 0, second, 0)
			require.NoError(t, err)
			require.Equal(t, want.ending, session.Ending)
			require.Equal(t, want.utility, session.Utilities[0])
			require.InDelta(t, want.value, session.Values[0].Float(), 1e-11, name)
			require.InDelta(t, (want.value-.2)/.8, session.Advantages[0].Float(), 1e-11, name)
		}
	}
}

// TestHagglesRulesCostDecayAndFee uses a seller that accepts the least price: 10 % of the escrow, 1,000,000
// less 2 % decay, so 98,000. The 0.5 % fee is 490.
func TestHagglesRulesCostDecayAndFee(t *testing.T) {
	rules := &onchain.Rules{
		Escrow: 1_000_000, MaxRounds: 4, DecayRateBps: 200, MinOfferBps: 1_000, FeeBps: 50,
		ResponseWindow: 300, Deadline: 3_600,
	}
	domain, err := onchain.Domain(rules.Escrow)
	require.NoError(t, err)
	s := &tournament.Scenario{Name: "on chain", Rules: rules}
	for role, reservation := range []uint64{500_000, 0} {
		s.Preferences[role], _, err = onchain.Preferences(domain, onchain.Side(role), reservation, reservation)
		require.NoError(t, err)
	}
	plan := &tournament.Plan{Entrants: entrants("hardliner", "car"), Scenarios: tournament.List{s}}
	_, session, err := plan.Trace(s, 0, 1, 0)
	require.NoError(t, err)
	require.Equal(t, onchain.Settlement{
		Price: 98_000, ToSeller: 97_510, Refund: 882_000, Fee: 490, Decay: 20_000,
	}, session.Settlement)
	require.Equal(t, [2]fixed.Number{fixed.Ratio(902, 1_000), fixed.Ratio(98, 1_000)}, session.Utilities)
	require.Equal(t, [2]fixed.Number{fixed.Ratio(882, 1_000), fixed.Ratio(97_510, 1_000_000)}, session.Values)
	// The buyer gains 0.382 over no agreement, worth 0.5; the maximum gain is 0.5.
	require.Equal(t, [2]fixed.Number{fixed.Ratio(382, 500), fixed.Ratio(97_510, 1_000_000)}, session.Advantages)
}

func TestAdvantage(t *testing.T) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, 10, 1))
	require.NoError(t, err)
	line, err := utility.PriceLine(domain, true)
	require.NoError(t, err)
	for reservation, want := range map[fixed.Number][2]fixed.Number{
		0:             {fixed.One / 2, 0},
		fixed.One / 5: {3 * fixed.One / 8, -fixed.One / 4},
		fixed.One:     {0, 0},
	} {
		p, err := bargain.NewPreferences(domain, line, reservation)
		require.NoError(t, err)
		require.Equal(t, want, [2]fixed.Number{
			tournament.Advantage(p, fixed.One/2), tournament.Advantage(p, 0),
		})
	}
}

// TestScoresHaveStudentsInterval computes scores and intervals again, with floats and in another way.
func TestScoresHaveStudentsInterval(t *testing.T) {
	plan := &tournament.Plan{
		Entrants: entrants("micro", "linear", "random"), Scenarios: tournament.Random{Count: 5}, Steps: 10,
		Repetitions: 2,
	}
	sums, counts := map[string]map[string]float64{}, map[string]map[string]float64{}
	stats := plan.NewStats()
	require.NoError(t, plan.Run(t.Context(), 2, 0, func(block *tournament.Block) error {
		stats.Add(block)
		for _, session := range block.Sessions {
			for role, entrant := range session.Strategies {
				name := plan.Entrants[entrant].Name
				if sums[name] == nil {
					sums[name], counts[name] = map[string]float64{}, map[string]float64{}
				}
				sums[name][block.Scenario] += session.Advantages[role].Float()
				counts[name][block.Scenario]++
			}
		}
		return nil
	}))
	for _, score := range stats.Scores() {
		mean, squares := 0.0, 0.0
		for scenario, sum := range sums[score.Name] {
			mean += sum / counts[score.Name][scenario] / 5
		}
		for scenario, sum := range sums[score.Name] {
			squares += math.Pow(sum/counts[score.Name][scenario]-mean, 2)
		}
		require.InDelta(t, mean, score.Advantage.Float(), 1e-9)
		require.InDelta(t, 2.776*math.Sqrt(squares/4/5), score.Margin.Float(), 1e-9)
		require.Equal(t, int64(5), score.Scenarios)
		require.Equal(t, int64(40), score.Sessions)
	}
	best := stats.Scores()[0]
	require.Zero(t, best.Behind)
	require.Zero(t, best.BehindMargin)
	for _, score := range stats.Scores()[1:] {
		var differences []float64
		for scenario, sum := range sums[best.Name] {
			other := sums[score.Name][scenario] / counts[score.Name][scenario]
			differences = append(differences, sum/counts[best.Name][scenario]-other)
		}
		mean, squares := 0.0, 0.0
		for _, difference := range differences {
			mean += difference / 5
		}
		for _, difference := range differences {
			squares += math.Pow(difference-mean, 2)
		}
		require.InDelta(t, mean, score.Behind.Float(), 1e-9)
		require.InDelta(t, 2.776*math.Sqrt(squares/4/5), score.BehindMargin.Float(), 1e-9)
	}
}

// TestPairsTellStrategiesApart compares strategies with overlapping intervals but distinct differences: all
// play the same scenarios, and some scenarios are better for all.
func TestPairsTellStrategiesApart(t *testing.T) {
	plan := &tournament.Plan{
		Entrants:  entrants("micro", "linear", "negmas-boulware", "negmas-conceder", "tit-for-tat"),
		Scenarios: tournament.Haggle{Seed: 3, Count: 60}, Steps: 20,
	}
	stats := plan.NewStats()
	require.NoError(t, plan.Run(t.Context(), 2, 0, func(block *tournament.Block) error {
		stats.Add(block)
		return nil
	}))
	overlapping, distinct := 0, 0
	scores := stats.Scores()
	for _, score := range scores[1:] {
		if scores[0].Advantage-scores[0].Margin < score.Advantage+score.Margin {
			overlapping++
			if score.Behind > score.BehindMargin {
				distinct++
			}
		}
	}
	require.Positive(t, distinct, "%d overlap: %+v", overlapping, scores)
}

func TestScenariosAreTheSameEachTime(t *testing.T) {
	for _, source := range []tournament.Source{
		tournament.Random{Seed: 1, Count: 50}, tournament.Haggle{Seed: 1, Count: 50},
	} {
		for at := range source.Len() {
			a, err := source.Scenario(at)
			require.NoError(t, err)
			b, err := source.Scenario(at)
			require.NoError(t, err)
			require.Equal(t, a.Name, b.Name)
			domain := a.Preferences[0].Domain()
			require.Equal(t, domain, b.Preferences[0].Domain())
			for role := range a.Preferences {
				for o := range bargain.Outcome(min(domain.Size(), 100)) {
					require.Equal(t, a.Preferences[role].Of(o), b.Preferences[role].Of(o))
				}
				_, most, ok := a.Preferences[role].Range()
				require.True(t, ok)
				require.InDelta(t, 1, most.Float(), 1e-9)
			}
		}
	}
}

func TestAStopKeepsTheOrder(t *testing.T) {
	plan := &tournament.Plan{Entrants: entrants("micro", "linear"), Scenarios: tournament.Random{Count: 40}}
	ctx, cancel := context.WithCancel(t.Context())
	next := 0
	err := plan.Run(ctx, 3, 0, func(block *tournament.Block) error {
		require.Equal(t, next, block.Number)
		if next++; next == 10 {
			cancel()
		}
		return nil
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, next, plan.Blocks())
	broken := errors.New("broken")
	require.ErrorIs(t, plan.Run(t.Context(), 3, 0, func(*tournament.Block) error { return broken }), broken)
}

// TestPlansBeyondTheLimitsAreErrors checks plans with no sessions, and plans too large for any memory.
func TestPlansBeyondTheLimitsAreErrors(t *testing.T) {
	three, many := tournament.Random{Count: 3}, tournament.Random{Count: 500_000_001}
	two := entrants("micro", "car")
	for _, refused := range []struct {
		plan tournament.Plan
		text string
	}{
		{tournament.Plan{}, "there are no scenarios"},
		{tournament.Plan{Entrants: two, Scenarios: tournament.List{}}, "there are no scenarios"},
		{tournament.Plan{Scenarios: three}, "there are no strategies"},
		{tournament.Plan{Entrants: two[:1], Scenarios: three}, "a single strategy has no opponent"},
		{tournament.Plan{Entrants: entrants("car", "car"), Scenarios: three}, `strategy "car" is listed twice`},
		{tournament.Plan{Entrants: entrants("car", "?"), Scenarios: three}, "a name or a strategy is missing"},
		{tournament.Plan{Entrants: two, Scenarios: three, Steps: -1}, "-1 rounds: the limit is 100000"},
		{tournament.Plan{Entrants: two, Scenarios: three, Steps: 100_001}, "100001 rounds: the limit is 100000"},
		{tournament.Plan{Entrants: two, Scenarios: three, Repetitions: -1}, "-1 repetitions"},
		{
			tournament.Plan{Entrants: two, Scenarios: three, Repetitions: 50_001},
			"50001 repetitions: with 2 pairs of strategies the limit is 50000",
		},
		{
			tournament.Plan{Entrants: two, Scenarios: three, Repetitions: 25_001, SelfPlay: true},
			"25001 repetitions: with 4 pairs of strategies the limit is 25000",
		},
		{
			tournament.Plan{Entrants: two, Scenarios: three, Repetitions: math.MaxInt},
			"9223372036854775807 repetitions: with 2 pairs of strategies the limit is 50000",
		},
		{
			tournament.Plan{Entrants: two, Scenarios: many},
			"500000001 scenarios: with 2 sessions in each the limit is 500000000",
		},
	} {
		err := refused.plan.Check()
		require.ErrorIs(t, err, tournament.ErrPlan, refused.text)
		require.ErrorContains(t, err, refused.text)
	}
	most := tournament.Plan{Entrants: two, Scenarios: three, Repetitions: 50_000, Steps: 100_000}
	require.NoError(t, most.Check())
}

// TestATraceIsTheSessionOfTheTournament replays all sessions individually.
func TestATraceIsTheSessionOfTheTournament(t *testing.T) {
	sources := tournament.Join{tournament.Random{Seed: 3, Count: 2}, tournament.Haggle{Seed: 3, Count: 2}}
	plan := &tournament.Plan{Entrants: entrants("micro", "linear", "random"), Scenarios: sources, Steps: 10}
	require.NoError(t, plan.Run(t.Context(), 2, 0, func(block *tournament.Block) error {
		scenario, err := sources.Scenario(block.Number / len(plan.Entrants))
		require.NoError(t, err)
		for _, want := range block.Sessions {
			turns, session, err := plan.Trace(scenario, want.Strategies[0], want.Strategies[1], want.Repetition)
			require.NoError(t, err)
			require.Equal(t, want, session)
			offers := 0
			for at, turn := range turns {
				require.Equal(t, at+1, turn.Number)
				require.NotEmpty(t, turn.Reason)
				if turn.Move == bargain.MoveOffer {
					offers++
				}
			}
			require.Equal(t, want.Offers, offers)
			if want.Ending == bargain.EndingAgreement {
				last := turns[len(turns)-1]
				require.Equal(t, bargain.MoveAccept, last.Move)
				require.Equal(t, want.Utilities, last.Utilities)
			}
		}
		return nil
	}))
}

// TestAgreementsAreMeasured compares the distances with a search over all outcomes.
func TestAgreementsAreMeasured(t *testing.T) {
	plan := &tournament.Plan{
		Entrants: entrants("micro", "car", "linear", "hardliner"), Seed: 5, Steps: 20,
		Scenarios: tournament.Random{Seed: 3, Count: 4},
	}
	stats := plan.NewStats()
	sum, count := fixed.Number(0), fixed.Number(0)
	for number := range plan.Blocks() {
		block, err := plan.Play(number)
		require.NoError(t, err)
		stats.Add(block)
		s, err := plan.Scenarios.Scenario(number / len(plan.Entrants))
		require.NoError(t, err)
		for _, session := range block.Sessions {
			if session.Ending != bargain.EndingAgreement {
				require.Nil(t, session.NashDistance)
				require.Nil(t, session.ParetoDistance)
				continue
			}
			nash, pareto := distances(s, session.Utilities)
			require.InDelta(t, nash, session.NashDistance.Float(), 1e-9)
			require.InDelta(t, pareto, session.ParetoDistance.Float(), 1e-9)
			if plan.Entrants[session.Strategies[0]].Name == "car" || plan.Entrants[session.Strategies[1]].Name == "car" {
				sum, count = sum+*session.NashDistance, count+1
			}
		}
	}
	require.Positive(t, count)
	for _, score := range stats.Scores() {
		if score.Name == "car" {
			require.Equal(t, sum/count, *score.NashDistance)
		}
	}
}

// distances returns the distances from utilities to the Nash solution and the frontier, computed with floats.
func distances(s *tournament.Scenario, utilities [2]fixed.Number) (nash, pareto float64) {
	var points [][2]float64
	for o := range bargain.Outcome(s.Preferences[0].Domain().Size()) {
		points = append(points, [2]float64{s.Preferences[0].Of(o).Float(), s.Preferences[1].Of(o).Float()})
	}
	away := func(p [2]float64) float64 {
		return math.Hypot(p[0]-utilities[0].Float(), p[1]-utilities[1].Float())
	}
	most, pareto := -1.0, math.Inf(1)
	for _, p := range points {
		gains := [2]float64{p[0] - s.Preferences[0].Reservation().Float(), p[1] - s.Preferences[1].Reservation().Float()}
		if product := gains[0] * gains[1]; gains[0] >= 0 && gains[1] >= 0 && product > most {
			most, nash = product, away(p)
		}
		if !slices.ContainsFunc(points, func(q [2]float64) bool {
			return q[0] >= p[0] && q[1] >= p[1] && q != p
		}) {
			pareto = min(pareto, away(p))
		}
	}
	return nash, pareto
}

// TestPricesAreMeasuredFromTheMiddleOfTheZone uses domains too large for a search.
func TestPricesAreMeasuredFromTheMiddleOfTheZone(t *testing.T) {
	plan := &tournament.Plan{
		Entrants: entrants("linear", "genius-conceder"), Seed: 5, Scenarios: tournament.Haggle{Seed: 3, Count: 12},
	}
	agreements := 0
	for number := range plan.Blocks() {
		block, err := plan.Play(number)
		require.NoError(t, err)
		s, err := plan.Scenarios.Scenario(number / len(plan.Entrants))
		require.NoError(t, err)
		// The seller's utility for a price is this price relative to the escrow; the buyer's utility is 1 less
		// this share.
		ends := s.Frontier()
		require.Equal(t, [2]fixed.Number{fixed.One, 0}, ends[0].Utilities)
		require.Equal(t, [2]fixed.Number{0, fixed.One}, ends[len(ends)-1].Utilities)
		middle := (1 - s.Preferences[0].Reservation().Float() + s.Preferences[1].Reservation().Float()) / 2
		for _, session := range block.Sessions {
			if session.Ending != bargain.EndingAgreement {
				continue
			}
			agreements++
			away := session.Utilities[1].Float() - middle
			require.InDelta(t, math.Abs(away)*math.Sqrt2, session.NashDistance.Float(), 1e-4)
			require.Zero(t, *session.ParetoDistance)
		}
	}
	require.Positive(t, agreements)
}
