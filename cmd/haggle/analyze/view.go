package analyze

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/recorded"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
)

// view is the analysis of a negotiation. Shares are numbers: 0.25 is a quarter.
type view struct {
	Negotiation solana.PublicKey `json:"negotiation"`
	// Status is "open", "agreed", "settled", "rejected" or "expired".
	Status    string           `json:"status"`
	Mint      solana.PublicKey `json:"mint"`
	Escrow    amount.Tokens    `json:"escrow"`
	Rounds    int              `json:"rounds"`
	MaxRounds int              `json:"max_rounds"`
	Price     *amount.Tokens   `json:"price,omitempty"`
	Decay     amount.Tokens    `json:"decay"`
	// Complete is false if there may be further events that could not be read.
	Complete bool `json:"complete"`
	// Basis is "price": all figures follow from the prices of the offers.
	Basis string `json:"basis"`
	// OtherTerms reports whether the creation or the settlement has terms beside the price, which no figure
	// considers. The events of offers do not tell.
	OtherTerms bool      `json:"other_terms"`
	Buyer      partyView `json:"buyer"`
	Seller     partyView `json:"seller"`
	// Imbalance is what the buyer conceded less what the seller did, as shares of the initial gap.
	Imbalance float64 `json:"imbalance"`
	// Exploited is the side that conceded at least three quarters of what both did before they agreed.
	Exploited string `json:"exploited,omitempty"`
	// Benchmark is missing if the reservation prices are unknown.
	Benchmark *benchmarkView `json:"benchmark,omitempty"`
}

type partyView struct {
	Agent  solana.PublicKey `json:"agent"`
	Offers int              `json:"offers"`
	Steps  stepsView        `json:"steps"`
	// Conceded is the conceded share of the initial gap, and ConcededPerStep the mean of it.
	Conceded        float64   `json:"conceded"`
	ConcededPerStep float64   `json:"conceded_per_step"`
	Fits            []fitView `json:"fits"`
	// Declared is missing if the agent has made no declaration before the creation.
	Declared *declaredView `json:"declared,omitempty"`
}

// declaredView is what an agent declared with its signature. It need not be true.
type declaredView struct {
	Strategy string `json:"strategy"`
	Model    string `json:"model"`
	// PromptHash is a SHA-256 in hex, or empty.
	PromptHash string `json:"prompt_hash"`
	DeclaredAt int64  `json:"declared_at"`
}

type stepsView struct {
	Silent      int `json:"silent"`
	Concession  int `json:"concession"`
	Nice        int `json:"nice"`
	Fortunate   int `json:"fortunate"`
	Selfish     int `json:"selfish"`
	Unfortunate int `json:"unfortunate"`
}

type fitView struct {
	// Model is "boulware", "linear", "conceder", "tit-for-tat", "hardliner", or "unknown" for too few offers.
	Model analysis.Model `json:"model"`
	// Exponent is e of a concession t^(1/e); 0 for other models.
	Exponent float64 `json:"exponent"`
	// Ratio is what tit-for-tat returns of a concession; 0 for other models.
	Ratio float64 `json:"ratio"`
	// Goodness is the explained share of the squared steps, adjusted for the number of parameters.
	Goodness float64 `json:"goodness"`
}

type benchmarkView struct {
	// Source is "revealed" or "assumed".
	Source string        `json:"source"`
	Value  amount.Tokens `json:"buyer_value"`
	Cost   amount.Tokens `json:"seller_cost"`
	// NashPrice is missing if no price suits both sides.
	NashPrice *amount.Tokens `json:"nash_price,omitempty"`
	// EquilibriumPrice is missing if the sides do not agree in the equilibrium.
	EquilibriumPrice  *amount.Tokens `json:"equilibrium_price,omitempty"`
	EquilibriumRounds int            `json:"equilibrium_rounds"`
	// The shares are of the surplus: the buyer's value less the seller's cost.
	FromNash        float64 `json:"from_nash"`
	FromEquilibrium float64 `json:"from_equilibrium"`
	BuyerShare      float64 `json:"buyer_share"`
	SellerShare     float64 `json:"seller_share"`
	FeeShare        float64 `json:"fee_share"`
	DecayShare      float64 `json:"decay_share"`
	// hasSurplus reports that the value is higher than the cost. Otherwise the shares are 0.
	hasSurplus bool
}

var sides = [2]string{"buyer", "seller"}

func newView(
	address solana.PublicKey, n *recorded.Negotiation, result analysis.Analysis, complete bool,
	tokens func(uint64) amount.Tokens,
) view {
	v := view{
		Negotiation: address, Status: n.Ending, Mint: n.Created.TokenMint, Escrow: tokens(n.Created.EscrowAmount),
		Rounds: len(n.Offers), MaxRounds: int(n.Created.MaxRounds), Decay: tokens(n.Decay()), Complete: complete,
		Basis: "price", OtherTerms: n.HasTerms,
		Buyer:     newParty(n.Created.Buyer, result.Parties[0]),
		Seller:    newParty(n.Created.Seller, result.Parties[1]),
		Imbalance: rounded(result.Imbalance),
	}
	if v.Status == "" {
		v.Status = "open"
	}
	if n.Agreed {
		v.Price = new(tokens(n.Price))
	}
	if result.Exploited != analysis.Nobody {
		v.Exploited = sides[result.Exploited]
	}
	return v
}

func newParty(agent solana.PublicKey, p analysis.Profile) partyView {
	v := partyView{
		Agent: agent, Offers: p.Offers, Conceded: rounded(p.Conceded), ConcededPerStep: rounded(p.Rate),
		Steps: stepsView{
			Silent: p.Steps[analysis.Silent], Concession: p.Steps[analysis.Concession],
			Nice: p.Steps[analysis.Nice], Fortunate: p.Steps[analysis.Fortunate],
			Selfish: p.Steps[analysis.Selfish], Unfortunate: p.Steps[analysis.Unfortunate],
		},
		Fits: []fitView{},
	}
	for _, fit := range p.Fits {
		v.Fits = append(v.Fits, fitView{
			Model: fit.Model, Exponent: rounded(fit.Exponent), Ratio: rounded(fit.Ratio),
			Goodness: rounded(fit.Goodness),
		})
	}
	return v
}

func newBenchmark(
	h game.Haggle, result game.Result, assumed bool, tokens func(uint64) amount.Tokens,
) *benchmarkView {
	p := h.Proximity(result)
	v := &benchmarkView{
		Source: "revealed", Value: tokens(h.Value), Cost: tokens(h.Cost),
		EquilibriumRounds: p.Equilibrium.Offers, FromNash: rounded(p.FromNash.Float()),
		FromEquilibrium: rounded(p.FromEquilibrium.Float()), BuyerShare: rounded(p.Buyer.Float()),
		SellerShare: rounded(p.Seller.Float()), FeeShare: rounded(p.Fee.Float()),
		DecayShare: rounded(p.Decay.Float()), hasSurplus: h.Value > h.Cost,
	}
	if assumed {
		v.Source = "assumed"
	}
	if p.HasZone {
		v.NashPrice = new(tokens(p.Nash))
	}
	if p.Equilibrium.Agreed {
		v.EquilibriumPrice = new(tokens(p.Equilibrium.Price))
	}
	return v
}

func (v view) text() string {
	rows := format.Rows{
		{"rounds", fmt.Sprintf("%d of %d, decay %s of %s", v.Rounds, v.MaxRounds, v.Decay, v.Escrow)},
		{"price", optional(v.Price)},
		{"buyer", v.Buyer.text()},
		{"seller", v.Seller.text()},
		{"exploited", v.Exploited},
		{"benchmark", v.Benchmark.text()},
	}
	if v.OtherTerms {
		rows = append(rows, [2]string{"basis", "the prices alone; the other terms have no part in the figures"})
	}
	if !v.Complete {
		rows = append(rows, [2]string{"missing", "some transactions have events that could not be read"})
	}
	return fmt.Sprintf("%s  %s\n%s", v.Negotiation, v.Status, rows.String())
}

func (p partyView) text() string {
	lines := []string{fmt.Sprintf("offers: %d; conceded %s of the initial gap", p.Offers, percent(p.Conceded))}
	var steps []string
	for _, step := range []struct {
		name  string
		count int
	}{
		{"concession", p.Steps.Concession}, {"silent", p.Steps.Silent}, {"selfish", p.Steps.Selfish},
		{"nice", p.Steps.Nice}, {"fortunate", p.Steps.Fortunate}, {"unfortunate", p.Steps.Unfortunate},
	} {
		if step.count > 0 {
			steps = append(steps, fmt.Sprintf("%d %s", step.count, step.name))
		}
	}
	if len(steps) > 0 {
		lines = append(lines, "steps: "+strings.Join(steps, ", "))
	}
	for _, fit := range p.Fits {
		lines = append(lines, fit.text())
	}
	if d := p.Declared; d != nil {
		lines = append(lines, strings.TrimSpace("declared: "+strings.Join(
			slices.DeleteFunc([]string{d.Strategy, d.Model, d.PromptHash}, func(s string) bool { return s == "" }),
			", ")))
	}
	return strings.Join(lines, "\n")
}

func (f fitView) text() string {
	const digits = 3
	switch f.Model {
	case analysis.Unknown:
		return "too few offers to recognize a strategy"
	case analysis.Hardliner:
		return "hardliner: the same demand in every offer"
	case analysis.TitForTat:
		return fmt.Sprintf("tit-for-tat with ratio %s: explains %s",
			strconv.FormatFloat(f.Ratio, 'g', digits, 64), percent(f.Goodness))
	}
	return fmt.Sprintf("%s, e = %s: explains %s", f.Model,
		strconv.FormatFloat(f.Exponent, 'g', digits, 64), percent(f.Goodness))
}

func (b *benchmarkView) text() string {
	if b == nil {
		return ""
	}
	surplus := "there is no surplus: the buyer's value is not higher than the seller's cost"
	if b.hasSurplus {
		surplus = fmt.Sprintf("of the surplus: buyer %s, seller %s, fee %s, decay %s", percent(b.BuyerShare),
			percent(b.SellerShare), percent(b.FeeShare), percent(b.DecayShare))
	}
	return strings.Join([]string{
		fmt.Sprintf("value %s, cost %s (%s)", b.Value, b.Cost, b.Source),
		"Nash price " + orNone(b.NashPrice) + ", equilibrium price " + orNone(b.EquilibriumPrice),
		surplus,
	}, "\n")
}

// rounded returns a figure with the digits that a document has.
func rounded(figure float64) float64 {
	const parts = 1e6
	// Adding 0 turns -0 into 0.
	return math.Round(figure*parts)/parts + 0
}

// percent writes a share with one decimal.
func percent(share float64) string {
	return strconv.FormatFloat(share*100, 'f', 1, 64) + " %"
}

func optional(tokens *amount.Tokens) string {
	if tokens == nil {
		return ""
	}
	return tokens.String()
}

func orNone(tokens *amount.Tokens) string {
	if tokens == nil {
		return "none"
	}
	return tokens.String()
}
