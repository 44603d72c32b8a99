// Package comparison compares groups of agents by their negotiations: how often they agree, at what prices,
// how long they need, and how they concede.
package comparison

import (
	"cmp"
	"errors"
	"slices"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/indexer/recorded"
	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Sides contains the names of the sides, the buyer's first.
var Sides = [2]string{"buyer", "seller"}

// Party is one side's declaration in a negotiation.
type Party struct {
	// Declared is false if no declaration holds for this side.
	Declared bool
	// Value is the strategy, the model or the prompt hash. It is empty if the agent declares none.
	Value string
	// Late reports whether the declaration arrived after the negotiation was created.
	Late bool
}

// Group contains all negotiations by agents declaring the same value, on one side. Shares are numbers: 0.25
// is a quarter. Intervals are confidence intervals of 95 %, with the negotiations as independent
// observations.
type Group struct {
	// Value is the declared strategy, model or prompt hash. It is empty if the agents declare none.
	Value string `json:"value"`
	// Declared is false for the group of agents that declare nothing.
	Declared bool `json:"declared"`
	// Side is "buyer" or "seller": a price that is good for one side is bad for the other.
	Side string `json:"side"`
	// Agents is the number of different agents. If there are few, the negotiations are hardly independent.
	Agents int `json:"agents"`
	// Negotiations counts all, and Open counts unfinished negotiations. All other figures leave out the open
	// negotiations.
	Negotiations int `json:"negotiations"`
	Open         int `json:"open"`
	// Late is the number of negotiations whose declaration arrived after their creation.
	Late int `json:"late"`
	// Agreement is the share of ended negotiations with an agreement, with Clopper and Pearson's interval.
	Agreement Share `json:"agreement"`
	// PriceOfEscrow is the agreed price as a share of the escrow.
	PriceOfEscrow Mean `json:"price_of_escrow"`
	// PriceOfZone is the place of the agreed price between the revealed reservation prices: 0 is the
	// seller's, 1 the buyer's, 0.5 the Nash solution. Only agreements with both prices and a zone between
	// them count.
	PriceOfZone Mean `json:"price_of_zone"`
	// NashDistance is the distance of the agreed price from the Nash price, as a share of the zone.
	NashDistance Mean `json:"nash_distance"`
	// Rounds is the number of offers from both sides.
	Rounds Mean `json:"rounds"`
	// Seconds is the time from the creation to the agreement, the rejection or the expiry.
	Seconds Mean `json:"seconds"`
	// Decay is the share of the escrow that the buyer lost to decay.
	Decay Mean `json:"decay"`
	// Conceded is the part of the initial gap that this side gave up. Only negotiations with offers from both
	// sides count.
	Conceded Mean `json:"conceded"`
	// Concessions counts the models that fit this side's offers best: "boulware", "linear", "conceder",
	// "tit-for-tat", "hardliner", or "unknown" for too few offers.
	Concessions Concessions `json:"concessions"`
}

// Concessions counts fitted models.
type Concessions struct {
	Boulware  int `json:"boulware"`
	Linear    int `json:"linear"`
	Conceder  int `json:"conceder"`
	TitForTat int `json:"tit_for_tat"`
	Hardliner int `json:"hardliner"`
	Unknown   int `json:"unknown"`
}

func (c *Concessions) add(model analysis.Model) {
	switch model {
	case analysis.Boulware:
		c.Boulware++
	case analysis.Linear:
		c.Linear++
	case analysis.Conceder:
		c.Conceder++
	case analysis.TitForTat:
		c.TitForTat++
	case analysis.Hardliner:
		c.Hardliner++
	default:
		c.Unknown++
	}
}

// Comparison collects negotiations. The zero value is ready for use.
type Comparison struct {
	// Negotiations is the number of those added, Incomplete of those left out because events are missing.
	Negotiations, Incomplete int
	groups                   map[key]*samples
}

type key struct {
	declared    bool
	value, side string
}

// samples holds a group's observations.
type samples struct {
	Group
	agents map[solana.PublicKey]bool
	agreed int
	ended  int

	ofEscrow, ofZone, nash, rounds, seconds, decay, conceded []float64
}

// Add adds a negotiation with the declarations of the buyer and the seller.
func (c *Comparison) Add(n *recorded.Negotiation, complete bool, parties [2]Party) error {
	prices, err := n.Prices()
	if !complete || errors.Is(err, recorded.ErrIncomplete) {
		c.Incomplete++
		return nil
	}
	if err != nil {
		return err
	}
	record, err := prices.Record()
	if err != nil {
		return err
	}
	result, err := analysis.Analyze(record)
	if err != nil {
		return err
	}
	c.Negotiations++
	for side, agent := range [2]solana.PublicKey{n.Created.Buyer, n.Created.Seller} {
		c.of(parties[side], Sides[side]).add(n, agent, parties[side].Late, result.Parties[side])
	}
	return nil
}

func (c *Comparison) of(p Party, side string) *samples {
	at := key{p.Declared, p.Value, side}
	if c.groups == nil {
		c.groups = make(map[key]*samples)
	}
	if c.groups[at] == nil {
		c.groups[at] = &samples{
			Group:  Group{Value: p.Value, Declared: p.Declared, Side: side},
			agents: make(map[solana.PublicKey]bool),
		}
	}
	return c.groups[at]
}

func (s *samples) add(n *recorded.Negotiation, agent solana.PublicKey, late bool, profile analysis.Profile) {
	s.Negotiations++
	s.agents[agent] = true
	if late {
		s.Late++
	}
	if n.Ending == "" {
		s.Open++
		return
	}
	s.ended++
	escrow := float64(n.Created.EscrowAmount)
	s.rounds = append(s.rounds, float64(len(n.Offers)))
	s.seconds = append(s.seconds, float64(n.EndedAt-n.Created.Timestamp))
	s.decay = append(s.decay, float64(n.Decay())/escrow)
	s.Concessions.add(profile.Fits[0].Model)
	if len(n.Offers) > 1 { // The sides alternate.
		s.conceded = append(s.conceded, profile.Conceded)
	}
	if !n.Agreed {
		return
	}
	s.agreed++
	s.ofEscrow = append(s.ofEscrow, float64(n.Price)/escrow)
	if n.BuyerPrice == nil || n.SellerPrice == nil || *n.BuyerPrice <= *n.SellerPrice {
		return
	}
	zone := float64(*n.BuyerPrice - *n.SellerPrice)
	place := (float64(n.Price) - float64(*n.SellerPrice)) / zone
	nash, _ := protocol.NashBenchmark(*n.BuyerPrice, *n.SellerPrice)
	s.ofZone = append(s.ofZone, place)
	s.nash = append(s.nash, float64(max(n.Price, nash)-min(n.Price, nash))/zone)
}

// Groups returns the groups: those with a declaration first, by value and side.
func (c *Comparison) Groups() []Group {
	groups := make([]Group, 0, len(c.groups))
	for _, s := range c.groups {
		g := s.Group
		g.Agents = len(s.agents)
		g.Agreement = shareOf(s.agreed, s.ended)
		g.PriceOfEscrow, g.PriceOfZone, g.NashDistance = meanOf(s.ofEscrow), meanOf(s.ofZone), meanOf(s.nash)
		g.Rounds, g.Seconds, g.Decay = meanOf(s.rounds), meanOf(s.seconds), meanOf(s.decay)
		g.Conceded = meanOf(s.conceded)
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b Group) int {
		if a.Declared != b.Declared {
			if a.Declared {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Value, b.Value), cmp.Compare(a.Side, b.Side))
	})
	return groups
}
