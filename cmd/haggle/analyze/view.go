package analyze

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/format"
	"github.com/haggle-protocol/haggle/internal/cli/profile"
	"github.com/haggle-protocol/haggle/internal/indexer/recorded"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
)

// view is a negotiation's analysis. Shares are numbers: 0.25 is a quarter.
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
	// Total is the price plus the decay: the buyer's cost if there is a deal.
	Total *amount.Tokens `json:"total,omitempty"`
	// LastOffer is the side that can make the last of max_rounds offers: "buyer" if the number is odd.
	LastOffer string `json:"last_offer"`
	// Complete is false if further events may exist that could not be read.
	Complete bool `json:"complete"`
	// Basis is "price": all figures follow from the prices of the offers.
	Basis string `json:"basis"`
	// OtherTerms reports whether the creation or the settlement contains terms beside the price, which the
	// figures ignore. Offer events do not contain terms.
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
	Agent solana.PublicKey `json:"agent"`
	profile.View
	// Declared is missing if the agent has made no declaration before the creation.
	Declared *declaredView `json:"declared,omitempty"`
}

// declaredView is a declaration signed by an agent. It need not be true.
type declaredView struct {
	Strategy string `json:"strategy"`
	Model    string `json:"model"`
	// PromptHash is a SHA-256 in hex, or empty.
	PromptHash string `json:"prompt_hash"`
	DeclaredAt int64  `json:"declared_at"`
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
	// hasSurplus reports whether the value is higher than the cost. Otherwise the shares are 0.
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
		LastOffer: sides[(n.Created.MaxRounds+1)%2], Basis: "price", OtherTerms: n.HasTerms,
		Buyer:     partyView{Agent: n.Created.Buyer, View: profile.Of(result.Parties[0])},
		Seller:    partyView{Agent: n.Created.Seller, View: profile.Of(result.Parties[1])},
		Imbalance: profile.Rounded(result.Imbalance),
	}
	if v.Status == "" {
		v.Status = "open"
	}
	if n.Agreed {
		v.Price, v.Total = new(tokens(n.Price)), new(tokens(n.Price+n.Decay()))
	}
	if result.Exploited != analysis.Nobody {
		v.Exploited = sides[result.Exploited]
	}
	return v
}

func newBenchmark(
	h game.Haggle, result game.Result, assumed bool, tokens func(uint64) amount.Tokens,
) *benchmarkView {
	p := h.Proximity(result)
	v := &benchmarkView{
		Source: "revealed", Value: tokens(h.Value), Cost: tokens(h.Cost),
		EquilibriumRounds: p.Equilibrium.Offers, FromNash: profile.Rounded(p.FromNash.Float()),
		FromEquilibrium: profile.Rounded(p.FromEquilibrium.Float()), BuyerShare: profile.Rounded(p.Buyer.Float()),
		SellerShare: profile.Rounded(p.Seller.Float()), FeeShare: profile.Rounded(p.Fee.Float()),
		DecayShare: profile.Rounded(p.Decay.Float()), hasSurplus: h.Value > h.Cost,
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
		{"cost", v.cost()},
		{"last offer", v.lastOffer()},
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

// cost returns the buyer's cost; empty if not agreed.
func (v view) cost() string {
	if v.Total == nil {
		return ""
	}
	return fmt.Sprintf("%s to the buyer: price %s, decay %s", v.Total, v.Price, v.Decay)
}

// lastOffer returns the side that can make the last offer, with the consequence.
func (v view) lastOffer() string {
	if v.LastOffer == sides[0] {
		return fmt.Sprintf("the buyer's: %d is odd", v.MaxRounds)
	}
	return fmt.Sprintf("the seller's: %d is even, so it can demand all that the escrow still covers",
		v.MaxRounds)
}

func (p partyView) text() string {
	lines := p.Lines()
	if d := p.Declared; d != nil {
		lines = append(lines, strings.TrimSpace("declared: "+strings.Join(
			slices.DeleteFunc([]string{d.Strategy, d.Model, d.PromptHash}, func(s string) bool { return s == "" }),
			", ")))
	}
	return strings.Join(lines, "\n")
}

func (b *benchmarkView) text() string {
	if b == nil {
		return ""
	}
	surplus := "there is no surplus: the buyer's value is not higher than the seller's cost"
	if b.hasSurplus {
		surplus = fmt.Sprintf("of the surplus: buyer %s, seller %s, fee %s, decay %s",
			profile.Percent(b.BuyerShare), profile.Percent(b.SellerShare), profile.Percent(b.FeeShare),
			profile.Percent(b.DecayShare))
	}
	return strings.Join([]string{
		fmt.Sprintf("value %s, cost %s (%s)", b.Value, b.Cost, b.Source),
		"Nash price " + orNone(b.NashPrice) + ", equilibrium price " + orNone(b.EquilibriumPrice),
		surplus,
	}, "\n")
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
