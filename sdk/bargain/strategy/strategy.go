// Package strategy provides the literature's named strategies as compositions of bidding, acceptance and
// opponent model. The names indicate the convention: GENIUS and NegMAS use the same words for different
// curves.
//
// [Parse] reads a strategy's name and parameters, [List] lists the strategies, and [Register] adds a
// strategy.
package strategy

import (
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/acceptance"
	"github.com/haggle-protocol/haggle/sdk/bargain/bidding"
	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/opponent"
)

// TimeDependent is Faratin's and GENIUS' time dependent agent with a curve and ACnext. GENIUS offers the
// outcome nearest to the target.
func TimeDependent(c curve.Curve) bargain.BOA {
	return bargain.BOA{Bidding: timeDependent(c), Acceptance: acceptance.Next{}}
}

func timeDependent(c curve.Curve) bargain.Bidding {
	return bidding.TimeDependent{Curve: c, Pick: bidding.PickNearest}
}

// GENIUS' time dependent agents: F(t) = t^(1/e) with e = 0.2, 1 and 2.
func GeniusBoulware() bargain.BOA { return TimeDependent(curve.GeniusBoulware) }

// GeniusLinear concedes linearly.
func GeniusLinear() bargain.BOA { return TimeDependent(curve.GeniusLinear) }

// GeniusConceder concedes early.
func GeniusConceder() bargain.BOA { return TimeDependent(curve.GeniusConceder) }

// Linear concedes in equal steps from the opening to the reservation value, the last offer, with ACnext.
// Targets between outcomes are rounded towards the opening.
func Linear() bargain.BOA {
	return bargain.BOA{
		// The tolerance covers the rounding of times and targets.
		Bidding:    bidding.TimeDependent{Curve: curve.NegmasLinear, Tolerance: 3},
		Acceptance: acceptance.Next{},
	}
}

// FaratinExponential is the exponential time dependent tactic with ACnext: see [curve.Exponential].
func FaratinExponential(k, e fixed.Number) bargain.BOA {
	return TimeDependent(curve.Exponential{K: k, E: e})
}

// Aspiration is NegMAS' time-based negotiator with the aspiration 1 - t^exponent for offers and acceptance,
// and NegMAS' tolerance 0.0001.
func Aspiration(exponent fixed.Number) bargain.BOA {
	return bargain.BOA{Bidding: bidding.TimeDependent{Curve: aspiration(exponent), Tolerance: fixed.One / 10_000}}
}

// NegmasAspiration is NegMAS' AspirationNegotiator. It is [Aspiration] with the tolerance 0.001, and finds
// outcomes by another inverse.
func NegmasAspiration(exponent fixed.Number) bargain.BOA {
	return bargain.BOA{Bidding: bidding.TimeDependent{
		Curve: aspiration(exponent), Tolerance: fixed.One / 1_000, Unreserved: true,
	}}
}

func aspiration(exponent fixed.Number) curve.Curve {
	return curve.Aspiration{Max: fixed.One, Exponent: exponent}
}

// NegmasBoulware is NegMAS' BoulwareTBNegotiator: exponent 4.
func NegmasBoulware() bargain.BOA { return Aspiration(4 * fixed.One) }

// NegmasLinear is NegMAS' LinearTBNegotiator: exponent 1.
func NegmasLinear() bargain.BOA { return Aspiration(fixed.One) }

// NegmasConceder is NegMAS' ConcederTBNegotiator: exponent 0.25.
func NegmasConceder() bargain.BOA { return Aspiration(fixed.One / 4) }

// MiCRO is de Jonge's strategy: see [bidding.MiCRO].
func MiCRO() bargain.BOA { return bargain.BOA{Bidding: bidding.MiCRO{}} }

// Hardliner offers and accepts only the best outcome: NegMAS' ToughNegotiator.
func Hardliner() bargain.BOA {
	return bargain.BOA{Bidding: bidding.Hardliner{}, Acceptance: acceptance.Best{}}
}

// Random offers random rational outcomes, and accepts offers at least as good as its own next offer.
func Random() bargain.BOA {
	return bargain.BOA{Bidding: bidding.Random{}, Acceptance: acceptance.Next{}}
}

// CAB is NegMAS' Conceding Accepting Better strategy.
func CAB() bargain.BOA { return conceding(acceptance.Better{}) }

// CAN is NegMAS' Conceding Accepting Not Worse strategy.
func CAN() bargain.BOA { return conceding(acceptance.NotWorse{}) }

// CAR is NegMAS' Conceding Accepting Rational strategy.
func CAR() bargain.BOA { return conceding(acceptance.Rational{}) }

// WAB is NegMAS' Wasting Accepting Better strategy. It also offers outcomes below the reservation value.
func WAB() bargain.BOA { return wasting(acceptance.Better{}) }

// WAN is NegMAS' Wasting Accepting Not Worse strategy. It also offers outcomes below the reservation value.
func WAN() bargain.BOA { return wasting(acceptance.NotWorse{}) }

// WAR is NegMAS' Wasting Accepting Rational strategy. It also offers outcomes below the reservation value.
func WAR() bargain.BOA { return wasting(acceptance.Rational{}) }

func conceding(a bargain.Acceptance) bargain.BOA {
	return bargain.BOA{Bidding: bidding.Conceding{}, Acceptance: a}
}

func wasting(a bargain.Acceptance) bargain.BOA {
	return bargain.BOA{Bidding: bidding.Wasting{}, Acceptance: a}
}

// TitForTat is Faratin's relative tit-for-tat tactic with ACnext.
func TitForTat() bargain.BOA {
	return bargain.BOA{Bidding: bidding.Relative{}, Acceptance: acceptance.Next{}}
}

// NegmasTitForTat is NegMAS' NaiveTitForTatNegotiator: see [bidding.NaiveTitForTat].
func NegmasTitForTat() bargain.BOA {
	return bargain.BOA{Bidding: bidding.NaiveTitForTat{}}
}

// NiceTitForTat is Baarslag's agent with the HardHeaded model and ACcombi.
func NiceTitForTat() bargain.BOA {
	return bargain.BOA{
		Bidding: bidding.NiceTitForTat{}, Acceptance: acceptance.Combi{}, Modeling: opponent.HardHeaded{},
	}
}

// Hybrid is NegMAS' HybridNegotiator: see [bidding.Hybrid].
func Hybrid() bargain.BOA {
	return bargain.BOA{Bidding: bidding.Hybrid{}, Acceptance: acceptance.Next{}}
}
