package main

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// defaults generates scenarios with a negotiation's default terms.
type defaults struct{ tournament.Haggle }

// Scenario implements [tournament.Source].
func (d defaults) Scenario(at int) (*tournament.Scenario, error) {
	s, err := d.Haggle.Scenario(at)
	if err == nil {
		s.Rules.MaxRounds, s.Rules.DecayRateBps = protocol.DefaultMaxRounds, protocol.DefaultDecayRateBps
		s.Rules.MinOfferBps, s.Rules.FeeBps = protocol.DefaultMinOfferBps, 50
	}
	return s, err
}

// plain is a strategy that plays on chain as it plays alternating offers: see [onchain.Informed].
type plain struct{ bargain.Strategy }

func (plain) Informed() {}

// earnings holds a strategy's mean advantages in each scenario: in each role, and in both.
type earnings struct {
	byRole [2][]float64
	both   []float64
}

// advantages returns each named strategy's earnings.
func advantages(scenarios int, as func(bargain.Strategy) bargain.Strategy) (map[string]*earnings, error) {
	plan := tournament.Plan{Scenarios: defaults{tournament.Haggle{Seed: 2, Count: scenarios}}, Seed: 2}
	for _, entry := range strategy.List() {
		plan.Entrants = append(plan.Entrants, tournament.Entrant{Name: entry.Name, Strategy: as(entry.Strategy)})
	}
	means := map[string]*earnings{}
	for _, entrant := range plan.Entrants {
		of := &earnings{both: make([]float64, scenarios)}
		for role := range of.byRole {
			of.byRole[role] = make([]float64, scenarios)
		}
		means[entrant.Name] = of
	}
	sessions := float64(len(plan.Entrants) - 1) // per strategy, scenario and role
	err := plan.Run(context.Background(), 0, 0, func(block *tournament.Block) error {
		for _, session := range block.Sessions {
			for role, entrant := range session.Strategies {
				of, scenario := means[plan.Entrants[entrant].Name], block.Number/len(plan.Entrants)
				mean := session.Advantages[role].Float() / sessions
				of.byRole[role][scenario] += mean
				of.both[scenario] += mean / 2
			}
		}
		return nil
	})
	return means, err
}

// earningsTable returns the advantages of the named strategies at the default terms against each other: as they play
// alternating offers, on chain, in each role on chain, and the difference by scenario.
func earningsTable(scenarios int) (string, error) {
	before, err := advantages(scenarios, func(s bargain.Strategy) bargain.Strategy { return plain{s} })
	if err != nil {
		return "", err
	}
	after, err := advantages(scenarios, func(s bargain.Strategy) bargain.Strategy { return s })
	if err != nil {
		return "", err
	}
	names := strategy.Names()
	slices.SortStableFunc(names, func(a, b string) int {
		return cmp.Compare(stat.Mean(after[b].both, nil), stat.Mean(after[a].both, nil))
	})
	table := report.NewTable("strategy", "unchanged", "on chain", "difference", "as buyer", "as seller")
	for _, name := range names {
		differences := slices.Clone(after[name].both)
		for at := range differences {
			differences[at] -= before[name].both[at]
		}
		roles := after[name].byRole
		table.Row(name, interval(before[name].both), interval(after[name].both), interval(differences),
			interval(roles[0]), interval(roles[1]))
	}
	return table.String(), nil
}

// interval returns a mean with half the width of Student's interval of 95 %, in percent.
func interval(values []float64) string {
	mean, deviation := stat.MeanStdDev(values, nil)
	count := float64(len(values))
	student := distuv.StudentsT{Sigma: 1, Nu: count - 1}
	return decimal(100*mean, 1) + " ± " + decimal(100*student.Quantile(.975)*deviation/math.Sqrt(count), 1) + " %"
}
