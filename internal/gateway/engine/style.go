package engine

import (
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain/curve"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Style is a way to bargain: a set of parameters.
type Style string

// The styles.
const (
	// Aggressive opens at the maximum, concedes in the last rounds, and accepts only its own price.
	Aggressive Style = "aggressive"
	// Balanced opens above the preferred price and concedes evenly.
	Balanced Style = "balanced"
	// Flexible opens at the preferred price and concedes early.
	Flexible Style = "flexible"
	// Cooperative opens below the preferred price, and accepts the middle between its price and its target.
	Cooperative Style = "cooperative"
)

// Styles returns all styles.
func Styles() []Style { return []Style{Aggressive, Balanced, Flexible, Cooperative} }

// IsValid reports whether the style is one of the constants.
func (s Style) IsValid() bool { return slices.Contains(Styles(), s) }

// Tone is the tone of an answer, for the audit record and for the wording of messages.
type Tone string

// The tones.
const (
	Firm          Tone = "firm"
	Neutral       Tone = "neutral"
	Friendly      Tone = "friendly"
	Collaborative Tone = "collaborative"
)

// parameters are the values that differ between styles.
type parameters struct {
	// opening is the distance of the first asked price from the preferred price: if positive, the share of
	// the way to the maximum; if negative, the share of the way to the target.
	opening fixed.Number
	// concession is the curve of asked prices from the opening to the target.
	concession curve.Curve
	// willingness is the share of the way from the asked price to the target that a proposal may be below
	// the asked price.
	willingness fixed.Number
	tone        Tone
}

const percent = fixed.One / 100

func (s Style) parameters() parameters {
	switch s {
	case Aggressive:
		return parameters{fixed.One, curve.GeniusBoulware, 0, Firm}
	case Flexible:
		return parameters{0, curve.GeniusConceder, 25 * percent, Friendly}
	case Cooperative:
		return parameters{-10 * percent, curve.GeniusConceder, 50 * percent, Collaborative}
	default:
		return parameters{25 * percent, curve.GeniusLinear, 10 * percent, Neutral}
	}
}
