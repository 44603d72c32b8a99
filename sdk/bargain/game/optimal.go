package game

import "github.com/haggle-protocol/haggle/sdk/bargain"

// Optimal is the strategy that plays the equilibrium of [Haggle], after any offers of the other side: a best
// response at each turn to a side that plays the equilibrium from there on. It must know, or assume, the
// other side's value. It is for package onchain's sessions, whose buyer has the number 0; the seat's
// preferences only supply the prices. A price between two ticks is rounded in the other side's favour.
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
