package strategy

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/opponent"
)

// The strategies below each change one BOA component of [GeniusBoulware], so tournaments compare conditions
// and models under equal bidding: Baarslag et al., Decoupling Negotiating Agents to Explore the Space of
// Negotiation Strategies (2014).

// ACConst accepts offers from four fifths of the rational utility range on: see [acceptance.Const].
func ACConst() bargain.BOA {
	return accepting(acceptance.Const{Level: fixed.One / 5 * 4}, curve.GeniusBoulware.E)
}

// ACTime accepts any rational offer from nine tenths of the time on: see [acceptance.Time].
func ACTime() bargain.BOA {
	return accepting(acceptance.Time{From: fixed.One / 10 * 9}, curve.GeniusBoulware.E)
}

// ACCombiMax accepts by ACnext, and near the deadline by the best offer of the last window: see
// [acceptance.Combi].
func ACCombiMax() bargain.BOA {
	return accepting(acceptance.Combi{Expectation: acceptance.ExpectMax}, curve.GeniusBoulware.E)
}

// ACCombiAvg accepts by ACnext, and near the deadline by the average of the last window.
func ACCombiAvg() bargain.BOA {
	return accepting(acceptance.Combi{Expectation: acceptance.ExpectAvg}, curve.GeniusBoulware.E)
}

// ACCombiProb accepts by ACnext, and near the deadline by a better offer's expected utility.
func ACCombiProb() bargain.BOA {
	return accepting(acceptance.Combi{Expectation: acceptance.ExpectProb}, curve.GeniusBoulware.E)
}

func accepting(a bargain.Acceptance, e fixed.Number) bargain.BOA {
	return bargain.BOA{Bidding: timeDependent(curve.Polynomial{E: e}), Acceptance: a}
}

// Smith picks, near the target, the offer that AgentSmith's model values most: see [opponent.Smith].
func Smith() bargain.BOA { return modelling(opponent.Smith{}, curve.GeniusBoulware.E) }

// NashFrequency picks, near the target, the offer that the agent Nash's frequency model values most: see
// [opponent.NashFrequency].
func NashFrequency() bargain.BOA { return modelling(opponent.NashFrequency{}, curve.GeniusBoulware.E) }

// Bayesian picks, near the target, the offer that the scalable Bayesian model values most: see
// [opponent.Bayesian].
func Bayesian() bargain.BOA { return modelling(opponent.Bayesian{}, curve.GeniusBoulware.E) }

func modelling(m bargain.Modeling, e fixed.Number) bargain.BOA {
	return bargain.BOA{
		Bidding:    bidding.TimeDependent{Curve: curve.Polynomial{E: e}, Pick: bidding.PickModel},
		Acceptance: acceptance.Next{}, Modeling: m,
	}
}
