package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/solution"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// Metrics measure an agreement, for the publisher's analytics. The publisher's utility is the score. The
// client's utility is estimated with the same weights: the first proposal contains the ideal terms, and the
// price part falls from full weight at the lowest proposal to 0 at the highest counter offer price. No
// agreement is worth 0 to both.
type Metrics struct {
	// Publisher and Client are the agreement's utilities, in millionths.
	Publisher terms.Decimal `json:"publisher_utility"`
	Client    terms.Decimal `json:"client_utility"`
	// NashProduct is the product of both utilities. NashShare is NashProduct divided by the product of the
	// Nash bargaining solution, the highest of any outcome: 1 at the solution.
	NashProduct terms.Decimal `json:"nash_product"`
	NashShare   terms.Decimal `json:"nash_share"`
	// Nash holds the Nash solution's terms; of several, the terms with the highest score.
	Nash terms.Terms `json:"nash_terms"`
	// ParetoEfficient reports whether no outcome is better for one side and at least as good for the opposite
	// side. ParetoDistance is the distance to the nearest efficient outcome, in millionths of utility.
	ParetoEfficient bool          `json:"pareto_efficient"`
	ParetoDistance  terms.Decimal `json:"pareto_distance"`
}

// priceSteps is how many price steps from minimum to maximum are compared.
const priceSteps = 200

// Measure returns the metrics of an agreement. The proposals are the client's, in order: at least one.
// Outcomes combine 201 prices from the minimum to the maximum, the strategy's limits and preferences, and all
// values in the proposals and the agreement.
func Measure(s *Strategy, proposals []terms.Terms, agreed terms.Terms) (Metrics, error) {
	if len(proposals) == 0 {
		return Metrics{}, errors.New("metrics: no proposals; pass the client's proposals")
	}
	for _, t := range append(slices.Clone(proposals), agreed) {
		if err := t.Validate(); err != nil {
			return Metrics{}, fmt.Errorf("metrics: %w", err)
		}
	}
	o := newOutcomes(s, proposals, agreed)
	domain, problem, err := o.problem()
	if err != nil {
		return Metrics{}, fmt.Errorf("metrics: %w", err)
	}
	publisher, client := Score(s, agreed).Total, o.client(agreed)
	utilities := [2]fixed.Number{wide(publisher), wide(client)}
	nash := problem.Nash()[0]
	metrics := Metrics{
		Publisher: publisher, Client: client, NashProduct: publisher * client / One, NashShare: One,
		Nash: o.terms(domain, nash.Outcome), ParetoEfficient: problem.IsEfficient(utilities),
		ParetoDistance: terms.Decimal(problem.Distances(utilities).Pareto / millionth),
	}
	if most := uint64(nash.Utilities[0]/millionth) * uint64(nash.Utilities[1]/millionth); most > 0 {
		metrics.NashShare = terms.Decimal(uint64(publisher*client*One) / most)
	}
	return metrics, nil
}

// millionth is a millionth as a number of package fixed.
const millionth = fixed.One / 1_000_000

func wide(score terms.Decimal) fixed.Number { return fixed.Number(score) * millionth }

// outcomes holds the compared values for each issue.
type outcomes struct {
	strategy *Strategy
	// ideal is the client's first proposal, with the lowest price proposed. prepaid is the agreement's
	// number.
	ideal    terms.Terms
	highest  uint64
	prepaid  uint64
	prices   []uint64
	ttls     []uint32
	rates    []uint32
	purposes [][]terms.Purpose
}

func newOutcomes(s *Strategy, proposals []terms.Terms, agreed terms.Terms) *outcomes {
	o := &outcomes{
		strategy: s, ideal: proposals[0].Normal(), highest: max(s.MaxPrice, agreed.Price),
		prepaid: agreed.PrepaidFetches,
	}
	for step := range uint64(priceSteps + 1) {
		o.prices = append(o.prices, s.MinPrice+(s.MaxPrice-s.MinPrice)*step/priceSteps)
	}
	o.prices = append(o.prices, agreed.Price, s.preferredPrice(o.prepaid))
	o.ttls = []uint32{s.MinTTLSeconds, s.PreferredTTLSeconds, s.MaxTTLSeconds, agreed.TTLSeconds}
	o.rates = []uint32{s.MinBurstRPS, s.PreferredBurstRPS, s.MaxBurstRPS, agreed.BurstRPS}
	o.addPurposes(agreed.Purposes)
	o.addPurposes(s.PreferredPurposes)
	o.addPurposes(s.AllowedPurposes)
	for _, t := range proposals {
		inside := s.within(t)
		o.ideal.Price = min(o.ideal.Price, t.Price)
		o.ttls, o.rates = append(o.ttls, inside.TTLSeconds), append(o.rates, inside.BurstRPS)
		o.addPurposes(inside.Purposes)
	}
	o.prices, o.ttls, o.rates = distinct(o.prices), distinct(o.ttls), distinct(o.rates)
	return o
}

func distinct[V cmp.Ordered](values []V) []V {
	slices.Sort(values)
	return slices.Compact(values)
}

func (o *outcomes) addPurposes(purposes []terms.Purpose) {
	sorted := slices.Sorted(slices.Values(purposes))
	known := func(other []terms.Purpose) bool { return slices.Equal(other, sorted) }
	if len(sorted) > 0 && !slices.ContainsFunc(o.purposes, known) {
		o.purposes = append(o.purposes, sorted)
	}
}

// client returns the estimate of the client's utility.
func (o *outcomes) client(t terms.Terms) terms.Decimal {
	return o.clientPrice(t.Price) + closeness(ttlWeight, t.TTLSeconds, o.ideal.TTLSeconds) +
		closeness(rpsWeight, t.BurstRPS, o.ideal.BurstRPS) + o.clientPurposes(t.Purposes)
}

func (o *outcomes) clientPrice(price uint64) terms.Decimal {
	switch {
	case price <= o.ideal.Price:
		return priceWeight
	case price >= o.highest:
		return 0
	}
	return terms.Decimal(priceWeight * (o.highest - price) / (o.highest - o.ideal.Price))
}

func (o *outcomes) clientPurposes(purposes []terms.Purpose) terms.Decimal {
	return terms.Decimal(purposeWeight * len(common(o.ideal.Purposes, purposes)) / len(o.ideal.Purposes))
}

// problem returns the bargaining problem: the publisher first.
func (o *outcomes) problem() (*bargain.Domain, *solution.Problem, error) {
	domain, err := bargain.NewDomain(
		issue("price", len(o.prices)), issue("ttl", len(o.ttls)), issue("rps", len(o.rates)),
		issue("purposes", len(o.purposes)))
	if err != nil {
		return nil, nil, err
	}
	var sides [2]*bargain.Preferences
	for side := range sides {
		values := make([]utility.Values, domain.Len())
		for at := range values {
			values[at] = o.table(domain, at, side)
		}
		additive, err := utility.NewAdditive(domain, 0, nil, values...)
		if err != nil {
			return nil, nil, err
		}
		if sides[side], err = bargain.NewPreferences(domain, additive, 0); err != nil {
			return nil, nil, err
		}
	}
	problem, err := solution.New(sides[0], sides[1])
	return domain, problem, err
}

func issue(name string, count int) bargain.Issue {
	names := make([]string, count)
	for at := range names {
		names[at] = strconv.Itoa(at)
	}
	return bargain.Categorical(name, names...)
}

// table returns an issue's utility to a side, for each value.
func (o *outcomes) table(domain *bargain.Domain, at, side int) utility.Table {
	table := make(utility.Table, domain.Issue(at).Count)
	for index := range table {
		t := o.terms(domain, domain.With(0, at, uint64(index)))
		score := Score(o.strategy, t)
		worth := [...][2]terms.Decimal{
			{score.Price, o.clientPrice(t.Price)},
			{score.TTL, closeness(ttlWeight, t.TTLSeconds, o.ideal.TTLSeconds)},
			{score.RPS, closeness(rpsWeight, t.BurstRPS, o.ideal.BurstRPS)},
			{score.Purposes, o.clientPurposes(t.Purposes)},
		}
		table[index] = wide(worth[at][side])
	}
	return table
}

func (o *outcomes) terms(domain *bargain.Domain, outcome bargain.Outcome) terms.Terms {
	return terms.Terms{
		Price: o.prices[domain.Value(outcome, 0)], TTLSeconds: o.ttls[domain.Value(outcome, 1)],
		BurstRPS: o.rates[domain.Value(outcome, 2)], Purposes: o.purposes[domain.Value(outcome, 3)],
		PrepaidFetches: o.prepaid,
	}
}
