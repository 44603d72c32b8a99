package main

import (
	"cmp"
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/haggle-protocol/haggle/internal/report"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// defaults are generated scenarios with the default terms of a negotiation.
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

// advantages returns the mean advantage of each named strategy in each scenario.
func advantages(scenarios int, as func(bargain.Strategy) bargain.Strategy) (map[string][]float64, error) {
	plan := tournament.Plan{Scenarios: defaults{tournament.Haggle{Seed: 1, Count: scenarios}}, Seed: 1}
	for _, entry := range strategy.List() {
		plan.Entrants = append(plan.Entrants, tournament.Entrant{Name: entry.Name, Strategy: as(entry.Strategy)})
	}
	means := map[string][]float64{}
	for _, entrant := range plan.Entrants {
		means[entrant.Name] = make([]float64, scenarios)
	}
	sessions := float64(2 * (len(plan.Entrants) - 1)) // of a strategy in a scenario
	err := plan.Run(context.Background(), 0, 0, func(block *tournament.Block) error {
		for _, session := range block.Sessions {
			for role, entrant := range session.Strategies {
				mean := &means[plan.Entrants[entrant].Name][block.Number/len(plan.Entrants)]
				*mean += session.Advantages[role].Float() / sessions
			}
		}
		return nil
	})
	return means, err
}

// earningsTable returns the advantages of the named strategies at the default terms against each other: as they play
// alternating offers, on chain, and the difference by scenario.
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
		return cmp.Compare(stat.Mean(after[b], nil), stat.Mean(after[a], nil))
	})
	table := report.NewTable("strategy", "unchanged", "on chain", "difference")
	for _, name := range names {
		differences := slices.Clone(after[name])
		for at := range differences {
			differences[at] -= before[name][at]
		}
		table.Row(name, interval(before[name]), interval(after[name]), interval(differences))
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
