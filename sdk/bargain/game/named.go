package game

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

// Name is the name of the optimal player that commands, records and proofs use.
const Name = "optimal"

// complete is the optimal player as [Complete].
var complete = strategy.Entry{
	Name: Name, Strategy: Complete{},
	Summary: "the equilibrium of Haggle's rules, for known or assumed reservation prices",
}

// List returns the strategies of [strategy.List], and the optimal player as [Complete].
func List() []strategy.Entry { return append(strategy.List(), complete) }

// Parse is [strategy.Parse] with the strategies of [List].
func Parse(text string) (strategy.Entry, error) { return strategy.Parse(text, complete) }

// Names returns the names from [List], in [List] order.
func Names() []string { return append(strategy.Names(), Name) }

// Assuming is [Optimal] for a side that knows its own reservation price and the rules: see
// [onchain.Rules.Player]. If the rules are missing, it ends the session.
type Assuming struct {
	unruled
	// Other is the opponent's assumed reservation price, in base units of the mint: the highest price a buyer
	// pays, or the lowest amount a seller receives after the fee.
	Other uint64
}

// Under implements [onchain.Ruled].
func (a Assuming) Under(r onchain.Rules, side onchain.Side, own uint64) bargain.Strategy {
	if side == onchain.Buyer {
		return Optimal{Haggle{Rules: r, Value: own, Cost: a.Other}}
	}
	return Optimal{Haggle{Rules: r, Value: a.Other, Cost: own}}
}

// Complete is [Optimal] in a tournament, where it learns both sides' reservation prices. Real agents lack
// this complete information: Complete is a benchmark. In sessions not under Haggle's rules it ends the
// session.
type Complete struct{ unruled }

type unruled struct{}

// Start implements [bargain.Strategy].
func (unruled) Start(bargain.Seat) bargain.Negotiator { return unruled{} }

// Respond implements [bargain.Negotiator].
func (unruled) Respond(*bargain.State) bargain.Action {
	return bargain.End("the optimal player needs Haggle's rules")
}
