package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/haggle-protocol/haggle/internal/gateway/buyers"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
	"github.com/haggle-protocol/haggle/sdk/license"
)

// licenseBuyers is the number of buyers with each strategy and style.
const licenseBuyers = 400

// buy plays a strategy as [license.Client.Buy] does, as a new client with a limit, and returns the agreed
// price, or 0 if there is no agreement.
func buy(played bargain.Strategy, s *engine.Strategy, opening, limit, seed uint64) (uint64, error) {
	domain, err := bargain.NewDomain(bargain.Price("price", opening, limit, 1))
	if err != nil {
		return 0, err
	}
	cheap, err := utility.PriceLine(domain, false)
	if err != nil {
		return 0, err
	}
	preferences, err := bargain.NewPreferences(domain, cheap, 0)
	if err != nil {
		return 0, err
	}
	course := bargain.NewCourse(played, preferences, 0, 2*license.DefaultRounds, 0, seed)
	var state engine.State
	for {
		action := course.Respond(0, math.MaxUint64)
		switch action.Move {
		case bargain.MoveAccept:
			return state.Counter.Price, nil
		case bargain.MoveEnd:
			return 0, nil
		}
		course.Observe(action.Outcome)
		proposal := terms.Terms{
			Price: domain.Issue(0).Amount(uint64(action.Outcome)), TTLSeconds: s.PreferredTTLSeconds,
			BurstRPS: s.PreferredBurstRPS, Purposes: s.PreferredPurposes,
		}
		decision, err := engine.Respond(s, state, proposal)
		if err != nil {
			return 0, err
		}
		switch state = state.Next(proposal, decision); decision.Action {
		case engine.Accept:
			return proposal.Price, nil
		case engine.Counter:
		default:
			return 0, nil
		}
		offered := bargain.NoOutcome
		if state.Counter.Price <= limit {
			offered = bargain.Outcome(domain.Issue(0).Nearest(state.Counter.Price))
		}
		course.Observe(offered)
	}
}

// shownBuyers is the number of strategies in the table.
const shownBuyers = 8

// gains holds a strategy's results: the mean shares of the limit that remain unpaid, by style and in all, and
// the share of deals. If there is no deal, nothing is gained.
type gains struct {
	name       string
	byStyle    map[engine.Style]float64
	all, deals float64
}

// licenseGains returns the gains of the named strategies, the highest first. Limits lie evenly between the floor and
// twice the maximum price.
func licenseGains() (all []gains, err error) {
	for _, entry := range strategy.List() {
		g := gains{name: entry.Name, byStyle: map[engine.Style]float64{}}
		for _, style := range engine.Styles() {
			s, err := buyers.Publisher(style)
			if err != nil {
				return nil, err
			}
			random := bargain.NewRandom(1, 0)
			for seed := range uint64(licenseBuyers) {
				limit := s.Floor() + 1 + random.Below(2*s.MaxPrice-s.Floor())
				price, err := buy(entry.Strategy, &s, s.Floor(), limit, seed)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", entry.Name, err)
				}
				if price > 0 {
					g.byStyle[style] += (1 - float64(price)/float64(limit)) / licenseBuyers
					g.deals += 1.0 / licenseBuyers / float64(len(engine.Styles()))
				}
			}
			g.all += g.byStyle[style] / float64(len(engine.Styles()))
		}
		all = append(all, g)
	}
	slices.SortStableFunc(all, func(a, b gains) int { return cmp.Compare(b.all, a.all) })
	return all, nil
}

// buyersTable returns the gains of the best strategies.
func buyersTable() (string, error) {
	all, err := licenseGains()
	if err != nil {
		return "", err
	}
	columns := []string{"strategy"}
	for _, style := range engine.Styles() {
		columns = append(columns, string(style))
	}
	percent := func(share float64) string { return decimal(share*100, 1) + " %" }
	table := report.NewTable(append(columns, "all", "deals")...)
	for _, g := range all[:shownBuyers] {
		cells := []string{g.name}
		for _, style := range engine.Styles() {
			cells = append(cells, percent(g.byStyle[style]))
		}
		table.Row(append(cells, percent(g.all), percent(g.deals))...)
	}
	return table.String(), nil
}
