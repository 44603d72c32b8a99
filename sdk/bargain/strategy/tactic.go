package strategy

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// The strategies below are the remaining tactics from Faratin, Sierra, Jennings: Negotiation Decision
// Functions for Autonomous Agents (1998), sections 4.2 to 4.4, with ACnext. The formulas are the paper's; the
// comments give values for parameters left open by the paper.

// ResourceDependent concedes as steps run out: 0.1 + 0.9 e^-r of the range, where r counts the strategy's
// remaining steps. So it concedes most in the last three.
func ResourceDependent() bargain.BOA { return resourceDependent(fixed.One / 10) }

func resourceDependent(k fixed.Number) bargain.BOA {
	return tactic(bidding.ResourceDependent{K: k, Pick: bidding.PickNearest})
}

// Patience concedes as offers are made, with or without a deadline: 0.1 + 0.9 e^-r, where r is 5 divided by
// the number of offers so far, in a session with two parties. After five offers it has conceded 0.43.
func Patience() bargain.BOA { return patience(fixed.One / 10) }

func patience(k fixed.Number) bargain.BOA {
	return tactic(bidding.ResourceDependent{
		K: k, Resource: bidding.ResourcePatience, Unit: fixed.One / 5, Pick: bidding.PickNearest,
	})
}

// RandomAbsolute concedes as much as the opponent did, plus a random part up to 1/50 of the range,
// issue by issue.
func RandomAbsolute() bargain.BOA {
	return tactic(bidding.RandomAbsolute{Share: fixed.One / 50})
}

// AveragedTitForTat concedes the percentage that the opponent conceded over the last two steps together.
func AveragedTitForTat() bargain.BOA { return tactic(bidding.Averaged{Window: 2}) }

// Mixture aims at the mean utility of the offers by the linear time-dependent tactic and the relative
// tit-for-tat tactic, with equal weights.
func Mixture() bargain.BOA { return mixture(1, 1) }

func mixture(time, behaviour uint32) bargain.BOA {
	return tactic(bidding.Mixture{
		{Bidding: timeDependent(curve.GeniusLinear), Weight: time}, {Bidding: bidding.Relative{}, Weight: behaviour},
	})
}

// Switch is relative tit-for-tat up to four fifths of the time, and then GENIUS' Boulware: in the paper's
// section 4.4 tactic weights change with the negotiation state.
func Switch() bargain.BOA { return switching(curve.GeniusBoulware.E, fixed.One/5*4) }

func switching(e, at fixed.Number) bargain.BOA {
	return tactic(bidding.Switch{
		Before: bidding.Relative{}, After: timeDependent(curve.Polynomial{E: e}), At: at,
	})
}

func tactic(b bargain.Bidding) bargain.BOA {
	return bargain.BOA{Bidding: b, Acceptance: acceptance.Next{}}
}
