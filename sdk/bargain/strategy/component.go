package strategy

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/opponent"
)

// The strategies below differ from [GeniusBoulware] in one part of the BOA architecture each, so that
// tournaments compare conditions and models with the same bidding: Baarslag et al., Decoupling Negotiating
// Agents to Explore the Space of Negotiation Strategies (2014).

// ACConst accepts offers from four fifths of its rational range of utilities on: see [acceptance.Const].
func ACConst() bargain.BOA { return accepting(acceptance.Const{Level: fixed.One / 5 * 4}) }

// ACTime accepts any rational offer from nine tenths of the time on: see [acceptance.Time].
func ACTime() bargain.BOA { return accepting(acceptance.Time{From: fixed.One / 10 * 9}) }

// ACCombiMax accepts by ACnext, and near the deadline by the best offer of the last window: see
// [acceptance.Combi].
func ACCombiMax() bargain.BOA {
	return accepting(acceptance.Combi{Expectation: acceptance.ExpectMax})
}

// ACCombiAvg accepts by ACnext, and near the deadline by the average of the last window.
func ACCombiAvg() bargain.BOA {
	return accepting(acceptance.Combi{Expectation: acceptance.ExpectAvg})
}

// ACCombiProb accepts by ACnext, and near the deadline by the expected utility of a better offer.
func ACCombiProb() bargain.BOA {
	return accepting(acceptance.Combi{Expectation: acceptance.ExpectProb})
}

func accepting(a bargain.Acceptance) bargain.BOA {
	return bargain.BOA{Bidding: timeDependent(curve.GeniusBoulware), Acceptance: a}
}

// Smith offers what the model of AgentSmith values most near its target: see [opponent.Smith].
func Smith() bargain.BOA { return modelling(opponent.Smith{}) }

// NashFrequency offers what the frequency model of the agent Nash values most near its target: see
// [opponent.NashFrequency].
func NashFrequency() bargain.BOA { return modelling(opponent.NashFrequency{}) }

// Bayesian offers what the scalable Bayesian model values most near its target: see [opponent.Bayesian].
func Bayesian() bargain.BOA { return modelling(opponent.Bayesian{}) }

func modelling(m bargain.Modeling) bargain.BOA {
	return bargain.BOA{
		Bidding:    bidding.TimeDependent{Curve: curve.GeniusBoulware, Pick: bidding.PickModel},
		Acceptance: acceptance.Next{}, Modeling: m,
	}
}
