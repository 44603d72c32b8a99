package main

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// pair is a list price and the seller's cost, in cents. As in AmazonHistoryPrice, they are a product's
// highest and lowest price.
type pair struct{ list, cost uint64 }

// The session parameters from Xia et al. (2024): the buyer's budget is 0.8 of the list price, six turns for
// each side, and an offer generator that rises from half of the budget to the budget.
const (
	budgetOf100 = 80
	turns       = 6
	generated   = 50
	seed        = 2402_15813
)

func (p pair) budget() uint64 { return p.list * budgetOf100 / 100 }

// mutual reports whether there is a price that suits both.
func (p pair) mutual() bool { return p.cost < p.budget() }

// pairs returns generated pairs: list prices between 10 and 500, costs between 30 % and 100 % of the list
// price.
func pairs() []pair {
	random := rand.New(rand.NewPCG(seed, 0))
	list := make([]pair, generated)
	for i := range list {
		price := 1_000 + random.Uint64N(49_001)
		list[i] = pair{price, price * (30 + random.Uint64N(71)) / 100}
	}
	return list
}

// opponents lists the strategies played against the models.
var opponents = []string{
	"negmas-boulware", "negmas-linear", "negmas-conceder", "negmas-tit-for-tat", "micro", "hybrid", "hardliner",
	"nice-tit-for-tat",
}

// player is a party in a session.
type player interface {
	// observe records an offer from the player or, if own is false, from the opponent.
	observe(o bargain.Outcome, own bool)
	// respond returns the party's move on this turn.
	respond(canOffer bool) bargain.Action
}

// course is a strategy as a player.
type course struct{ *bargain.Course }

func (c course) observe(o bargain.Outcome, _ bool) { c.Observe(o) }

func (c course) respond(bool) bargain.Action { return c.Respond(0, math.MaxUint64) }

// table holds a pair's prices: no party asks for more than the list price.
type table struct {
	pair   pair
	domain *bargain.Domain
}

func newTable(p pair) (table, error) {
	domain, err := bargain.NewDomain(bargain.Price("price", 0, p.list, 1))
	return table{p, domain}, err
}

// side returns a side's limit and first price.
func (t table) side(self int) (side protocol.OfferSide, limit, opening uint64) {
	if self == 0 {
		return protocol.OfferSideBuyer, t.pair.budget(), t.pair.budget() / 2
	}
	return protocol.OfferSideSeller, t.pair.cost, t.pair.list
}

// plays returns a strategy on a side.
func (t table) plays(self int, s bargain.Strategy) (player, error) {
	side, limit, opening := t.side(self)
	preferences, first, err := onchain.Preferences(t.domain, side, opening, limit)
	if err != nil {
		return nil, err
	}
	return course{bargain.NewCourse(s, preferences, self, 2*turns, first, seed)}, nil
}

// run plays a session, and returns the price, or false if there is no deal.
func (t table) run(players [2]player) (uint64, bool) {
	standing := bargain.NoOutcome
	for round := 0; ; round++ {
		self := round % 2
		action := players[self].respond(round < 2*turns)
		switch {
		case action.Move == bargain.MoveAccept && standing != bargain.NoOutcome:
			return t.domain.Issue(0).Amount(uint64(standing)), true
		case action.Move != bargain.MoveOffer || round >= 2*turns:
			return 0, false
		}
		standing = action.Outcome
		players[self].observe(standing, true)
		players[1-self].observe(standing, false)
	}
}

// variant makes the player for side self in session number.
type variant func(t table, self, number int) (player, error)

// generator is the offer generator alone.
func generator(t table, self, _ int) (player, error) { return t.plays(self, strategy.Linear()) }

// alone is a character outside the band.
func alone(c character) variant {
	return func(t table, self, number int) (player, error) {
		_, limit, _ := t.side(self)
		return &unbound{c, sight{buys: self == 0, limit: limit, random: random(number)}, t.domain}, nil
	}
}

// banded is a character within the band of the offer generator. Each turn quotes a hostile text.
func banded(c character) variant {
	return func(t table, self, number int) (player, error) {
		_, limit, _ := t.side(self)
		return inBand(t, self, c.asModel(sight{buys: self == 0, limit: limit, random: random(number)}))
	}
}

// inBand is a model within the band of the offer generator.
func inBand(t table, self int, model llm.Model) (player, error) {
	chooser, err := llm.NewChooser(model, llm.Options{
		Principal: "Bargain well.", Budget: llm.Budget{Tokens: 1 << 40}, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		return nil, err
	}
	return t.plays(self, llm.Strategy{
		Chooser: chooser, Base: strategy.Linear(), Decimals: cents,
		Quotes: []llm.Quote{{Author: "other side", Name: "message", Text: order}},
	})
}

func random(number int) *rand.Rand { return rand.New(rand.NewPCG(seed, uint64(number)+1)) }

// outcomes holds a variant's results.
type outcomes struct {
	sessions, deals int
	// shares is the sum of the normalized profits of the deals, and worst the lowest one.
	shares, worst float64
}

func (o *outcomes) add(share float64, deal bool) {
	if o.sessions++; !deal {
		return
	}
	o.deals++
	o.shares += share
	o.worst = min(o.worst, share)
}

// rate is the deal rate in percent, and mean the sum of normalized profits for each session: no deal counts 0.
func (o *outcomes) rate() float64 { return 100 * float64(o.deals) / float64(o.sessions) }
func (o *outcomes) mean() float64 { return o.shares / float64(o.sessions) }

// profit is a side's normalized profit at a price, as defined by Xia et al.: the distance from the side's
// limit, divided by the distance between both limits, which counts as at least 1.00.
func (p pair) profit(self int, price uint64) float64 {
	budget, cost := float64(p.budget()), float64(p.cost)
	room := max(math.Abs(budget-cost), 100)
	if self == 0 {
		return (budget - float64(price)) / room
	}
	return (float64(price) - cost) / room
}

// against plays a variant on one side against all opponents, in the chosen pairs.
func against(v variant, self int, chosen func(pair) bool) (o outcomes, err error) {
	for number, p := range pairs() {
		if !chosen(p) {
			continue
		}
		t, err := newTable(p)
		if err != nil {
			return o, err
		}
		for _, name := range opponents {
			var players [2]player
			if players[self], err = v(t, self, number); err != nil {
				return o, err
			}
			if players[1-self], err = t.plays(1-self, strategy.Named()[name]); err != nil {
				return o, err
			}
			price, deal := t.run(players)
			o.add(p.profit(self, price), deal)
		}
	}
	return o, nil
}

// modelsTable compares the characters alone and within the band, on both sides, in pairs with a zone of
// agreement.
func modelsTable() (string, error) {
	rows := report.NewTable("model", "buyer alone", "in the band", "worst deal alone", "in the band ",
		"seller alone", "in the band  ", "worst deal alone ", "in the band   ")
	row := func(name string, variants [2]variant) error {
		cells := []string{name}
		for self := range 2 {
			var both [2]outcomes
			for i, v := range variants {
				var err error
				if both[i], err = against(v, self, pair.mutual); err != nil {
					return err
				}
			}
			cells = append(cells, fmt.Sprintf("%.3f", both[0].mean()), fmt.Sprintf("%.3f", both[1].mean()),
				fmt.Sprintf("%.2f", both[0].worst), fmt.Sprintf("%.2f", both[1].worst))
		}
		rows.Row(cells...)
		return nil
	}
	for _, c := range characters {
		if err := row(c.name, [2]variant{alone(c), banded(c)}); err != nil {
			return "", err
		}
	}
	err := row("no model: the strategy", [2]variant{generator, generator})
	return rows.String(), err
}

// generatorTable repeats the comparison of Xia et al.: buyers alone, and beside an offer generator.
func generatorTable() (string, error) {
	rows := report.NewTable("buyer", "deal rate alone", "with the generator", "profits alone", "with the generator ",
		"deals without a zone alone", "with the generator  ")
	row := func(name string, variants [2]variant) error {
		var both, conflicting [2]outcomes
		for i, v := range variants {
			var err error
			if both[i], err = against(v, 0, pair.mutual); err != nil {
				return err
			}
			if conflicting[i], err = against(v, 0, func(p pair) bool { return !p.mutual() }); err != nil {
				return err
			}
		}
		rows.Row(name, fmt.Sprintf("%.2f %%", both[0].rate()), fmt.Sprintf("%.2f %%", both[1].rate()),
			fmt.Sprintf("%.1f", both[0].shares), fmt.Sprintf("%.1f", both[1].shares),
			fmt.Sprint(conflicting[0].deals), fmt.Sprint(conflicting[1].deals))
		return nil
	}
	for _, c := range characters {
		if err := row(c.name, [2]variant{alone(c), banded(c)}); err != nil {
			return "", err
		}
	}
	err := row("no model: the generator", [2]variant{generator, generator})
	return rows.String(), err
}
