package game

import "github.com/haggle-protocol/haggle/sdk/bargain"

// Optimal is the strategy that plays the equilibrium of [Haggle], after any opponent offers: in every turn a
// best response to an opponent that plays the equilibrium from then on. It must know, or assume, the
// opponent's value. It is for package onchain's sessions, with the buyer as party 0; the seat's preferences
// only supply the prices. Prices between ticks are rounded in the opponent's favor.
type Optimal struct{ Haggle }

// Start implements [bargain.Strategy].
func (o Optimal) Start(seat bargain.Seat) bargain.Negotiator {
	return &optimal{self: seat.Self, nodes: o.Solve(), issue: seat.Preferences.Domain().Issue(0)}
}

// Informed implements [onchain.Informed].
func (Optimal) Informed() {}

type optimal struct {
	self  int
	nodes []Node
	issue *bargain.Issue
}

// Respond implements [bargain.Negotiator].
func (o *optimal) Respond(state *bargain.State) bargain.Action {
	node := &o.nodes[min(len(state.History), len(o.nodes)-1)]
	isOpen := state.Offer != bargain.NoOutcome && state.By != o.self
	if isOpen && node.Accepts(o.issue.Amount(uint64(state.Offer))) {
		return bargain.Accept("at least as good as the equilibrium of the rest of the game")
	}
	if node.Move == bargain.MoveEnd {
		return bargain.End("no agreement is worth its cost in the equilibrium")
	}
	index := node.Price / o.issue.Tick
	if o.self == Buyer && node.Price%o.issue.Tick != 0 {
		index++
	}
	return bargain.Propose(bargain.Outcome(min(index, o.issue.Count-1)), "offer of the equilibrium")
}
