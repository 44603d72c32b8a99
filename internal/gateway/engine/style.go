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
	// Aggressive opens at the maximum, concedes in the last rounds, and never sells for less than the
	// preferred price.
	Aggressive Style = "aggressive"
	// Balanced opens above the preferred price, concedes evenly, and ends at 85 % of the preferred price.
	Balanced Style = "balanced"
	// Flexible opens at the preferred price, concedes early, and ends at 70 % of that price.
	Flexible Style = "flexible"
	// Cooperative opens at the preferred price, concedes early, and ends at half that price: both sides
	// concede alike.
	Cooperative Style = "cooperative"
)

// Styles returns all styles.
func Styles() []Style { return []Style{Aggressive, Balanced, Flexible, Cooperative} }

// IsValid reports whether the style is one of the constants.
func (s Style) IsValid() bool { return slices.Contains(Styles(), s) }

// Tone is an answer's tone, for the audit record and for message wording.
type Tone string

// The tones.
const (
	Firm          Tone = "firm"
	Neutral       Tone = "neutral"
	Friendly      Tone = "friendly"
	Collaborative Tone = "collaborative"
)

// parameters holds the values that differ per style.
type parameters struct {
	// opening is the first asked price: the share of the way from the preferred price to the maximum.
	opening fixed.Number
	// discount is the share of the preferred price that the style concedes at most.
	discount fixed.Number
	// aspiration is the style's lowest level over time: see [quote.after].
	aspiration curve.Curve
	tone       Tone
}

const percent = fixed.One / 100

func (s Style) parameters() parameters {
	switch s {
	case Aggressive:
		return parameters{fixed.One, 0, curve.GeniusBoulware, Firm}
	case Flexible:
		return parameters{0, 30 * percent, curve.GeniusConceder, Friendly}
	case Cooperative:
		return parameters{0, 50 * percent, curve.GeniusConceder, Collaborative}
	default:
		return parameters{25 * percent, 15 * percent, curve.GeniusLinear, Neutral}
	}
}
