package main

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// The example of the page: a service that is worth 800,000 base units to the buyer and costs the seller
// 600,000.
const (
	value = 800_000
	cost  = 600_000
)

func example(escrow uint64, rounds uint8) game.Haggle {
	return game.Haggle{Value: value, Cost: cost, Rules: onchain.Rules{
		Escrow: escrow, MaxRounds: rounds, DecayRateBps: 200, MinOfferBps: 1_000, FeeBps: 50,
		ResponseWindow: 300, Deadline: 86_400,
	}}
}

func equilibriaTable() (string, error) {
	table := report.NewTable("escrow", "max_rounds", "price", "decay", "buyer", "seller", "fee", "decay share")
	for _, escrow := range []uint64{1_000_000, 800_000, 740_000} {
		for _, rounds := range []uint8{1, 2, 3, 9, 10} {
			h := example(escrow, rounds)
			end := h.Equilibrium()
			cells := []string{report.Count(escrow), strconv.Itoa(int(rounds))}
			if !end.Agreed {
				table.Row(append(cells, "none", "0", "0 %", "0 %", "0 %", "0 %")...)
				continue
			}
			p := h.Proximity(end)
			percent := func(share float64) string { return decimal(share*100, 1) + " %" }
			table.Row(append(cells, report.Count(end.Price), report.Count(end.Decay), percent(p.Buyer.Float()),
				percent(p.Seller.Float()), percent(p.Fee.Float()), percent(p.Decay.Float()))...)
		}
	}
	return table.String(), nil
}

// drawRounds draws the equilibrium price by the maximum number of rounds.
func drawRounds() (*plot.Plot, error) {
	const most = 20
	p := report.NewPlot("Equilibrium price, escrow 800,000, decay 2 %", "max_rounds", "base units")
	p.Legend.Top = true
	p.Y.Min, p.Y.Max = 550_000, 850_000
	var byLast [2]plotter.XYs
	var nash plotter.XYs
	for rounds := uint8(1); rounds <= most; rounds++ {
		h := example(value, rounds)
		if end := h.Equilibrium(); end.Agreed {
			byLast[rounds%2] = append(byLast[rounds%2], plotter.XY{X: float64(rounds), Y: float64(end.Price)})
		}
		price, _ := h.NashPrice()
		nash = append(nash, plotter.XY{X: float64(rounds), Y: float64(price)})
	}
	err := addMarks(p, "odd: the buyer makes the last offer", report.Blue, draw.CircleGlyph{}, byLast[1])
	if err != nil {
		return nil, err
	}
	err = addMarks(p, "even: the seller makes the last offer", report.Orange, draw.BoxGlyph{}, byLast[0])
	if err != nil {
		return nil, err
	}
	return p, addLine(p, "Nash price", report.Grey, nash)
}

// strategyList returns the strategies that commands know by name, with their parameters.
func strategyList() (string, error) {
	var text strings.Builder
	for _, entry := range game.List() {
		mark := ""
		if entry.HasOpening {
			mark = "*"
		}
		also := ""
		if len(entry.Aliases) > 0 {
			also = " (or `" + strings.Join(entry.Aliases, "`, `") + "`)"
		}
		fmt.Fprintf(&text, "- `%s`%s%s: %s\n", entry.Name, mark, also, entry.Summary)
		for _, parameter := range entry.Parameters {
			fmt.Fprintf(&text, "  - `%s` (%s): %s\n", parameter.Name, parameter.Range(), parameter.Summary)
		}
	}
	return text.String(), nil
}

// strategies lists the pairs in the sessions fitted on the page.
var strategies = []struct {
	buyer, seller    string
	buyers, opposite bargain.Strategy
}{
	{"Boulware, e = 0.2", "conceder, e = 2", strategy.GeniusBoulware(), strategy.GeniusConceder()},
	{"linear, e = 1", "Boulware, e = 0.2", strategy.GeniusLinear(), strategy.GeniusBoulware()},
	{"absolute tit-for-tat", "conceder, e = 2",
		bargain.BOA{Bidding: bidding.RandomAbsolute{}, Acceptance: acceptance.Next{}}, strategy.GeniusConceder()},
	{"hardliner", "linear, e = 1", strategy.Hardliner(), strategy.GeniusLinear()},
}

// session plays a pair of strategies by the on-chain rules.
func session(buyer, seller bargain.Strategy) (analysis.Prices, error) {
	rules := onchain.Rules{
		Escrow: 1_000_000, MaxRounds: 20, DecayRateBps: 100, FeeBps: 50, ResponseWindow: 300, Deadline: 86_400,
	}
	prices := analysis.Prices{Escrow: rules.Escrow, MaxRounds: int(rules.MaxRounds)}
	domain, err := onchain.Domain(rules.Escrow)
	if err != nil {
		return prices, err
	}
	var players [2]onchain.Player
	for side, terms := range []struct {
		strategy             bargain.Strategy
		opening, reservation uint64
	}{{buyer, 200_000, 600_000}, {seller, 800_000, 500_000}} {
		preferences, opening, err := onchain.Preferences(
			domain, protocol.OfferSide(side), terms.opening, terms.reservation)
		if err != nil {
			return prices, err
		}
		players[side] = onchain.Player{Strategy: terms.strategy, Preferences: preferences, Opening: opening}
	}
	result, err := rules.Run(1, players[0], players[1])
	for _, offer := range result.History {
		prices.Offers = append(prices.Offers, domain.Issue(0).Amount(uint64(offer.Outcome)))
	}
	prices.Ranges = rules.OfferRanges(len(prices.Offers))
	prices.Agreed, prices.Price = result.Ending == bargain.EndingAgreement, result.Settlement.Price
	return prices, err
}

func fitsTable() (string, error) {
	table := report.NewTable(
		"buyer", "seller", "price", "buyer fits", "seller fits", "buyer conceded", "exploited")
	for _, pair := range strategies {
		prices, err := session(pair.buyers, pair.opposite)
		if err != nil {
			return "", err
		}
		record, err := prices.Record()
		if err != nil {
			return "", err
		}
		a, err := analysis.Analyze(record)
		if err != nil {
			return "", err
		}
		price, exploited := "none", "nobody"
		if prices.Agreed {
			price = report.Count(prices.Price)
		}
		if a.Exploited != analysis.Nobody {
			exploited = [2]string{"buyer", "seller"}[a.Exploited]
		}
		table.Row(pair.buyer, pair.seller, price, fitText(a.Parties[0]), fitText(a.Parties[1]),
			decimal(a.Parties[0].Conceded*100, 0)+" %", exploited)
	}
	return table.String(), nil
}

func fitText(p analysis.Profile) string {
	fit := p.Fits[0]
	switch fit.Model {
	case analysis.Unknown, analysis.Hardliner:
		return string(fit.Model)
	case analysis.TitForTat:
		return fmt.Sprintf("%s, ratio %s (%s)", fit.Model, decimal(fit.Ratio, 2), decimal(fit.Goodness, 2))
	}
	return fmt.Sprintf("%s, e = %s (%s)", fit.Model, decimal(fit.Exponent, 2), decimal(fit.Goodness, 2))
}

// drawOffers draws the first session of the table.
func drawOffers() (*plot.Plot, error) {
	prices, err := session(strategies[0].buyers, strategies[0].opposite)
	if err != nil {
		return nil, err
	}
	p := report.NewPlot("Offers of a Boulware buyer and a conceding seller", "round", "base units")
	p.Legend.Top = true
	p.Y.Max = 1_100_000
	for side, name := range []string{"buyer, Boulware, e = 0.2", "seller, conceder, e = 2"} {
		var points plotter.XYs
		for round, price := range prices.Offers {
			if round%2 == side {
				points = append(points, plotter.XY{X: float64(round + 1), Y: float64(price)})
			}
		}
		colour := []color.Color{report.Blue, report.Orange}[side]
		if err := addMarks(p, name, colour, draw.CircleGlyph{}, points); err != nil {
			return nil, err
		}
	}
	return p, nil
}
