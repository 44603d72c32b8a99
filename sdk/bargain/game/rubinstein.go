// Package game models the strategic side of bargaining with complete information: Rubinstein's alternating
// offers game, and the different game defined by Haggle's rules. Both are solved by backward induction, the
// second exactly in base units.
package game

import "github.com/haggle-protocol/haggle/sdk/bargain/fixed"

// Rubinstein returns the first proposer's share in the only subgame perfect equilibrium of Rubinstein's game:
// (1-d2) / (1-d1 d2). The parties divide 1, propose in turn, endlessly, and discount every round of delay by
// the factor d1 (the first proposer) or d2. It returns false if a factor is not in [0, 1], or if both are 1,
// because there is no single equilibrium then.
//
// Source: Rubinstein: Perfect Equilibrium in a Bargaining Model (1982), section 4; Osborne, Rubinstein:
// Bargaining and Markets (1990), section 3.8.
func Rubinstein(d1, d2 fixed.Number) (share fixed.Number, ok bool) {
	if !areFactors(d1, d2) || d1 == fixed.One && d2 == fixed.One {
		return 0, false
	}
	// 1 - d1 d2 is rounded, so that d1 = 1 must not depend on it.
	if d1 == fixed.One {
		return fixed.One, true
	}
	return (fixed.One - d2).Div(max(fixed.One-d1.Mul(d2), 1)).Clamp(0, fixed.One), true
}

// FiniteRubinstein returns the first proposer's share if the number of rounds is limited, the last being an
// ultimatum: 1 for a single round. With more rounds it approaches [Rubinstein]. It returns false if a factor
// is not in [0, 1] or rounds is not positive.
//
// Source: Ståhl: Bargaining Theory (1972).
func FiniteRubinstein(d1, d2 fixed.Number, rounds int) (share fixed.Number, ok bool) {
	if !areFactors(d1, d2) || rounds < 1 {
		return 0, false
	}
	share = fixed.One
	for round := rounds - 1; round >= 1; round-- {
		responder := d2
		if round%2 == 0 {
			responder = d1
		}
		share = fixed.One - responder.Mul(share)
	}
	return share, true
}

func areFactors(d1, d2 fixed.Number) bool {
	return 0 <= d1 && d1 <= fixed.One && 0 <= d2 && d2 <= fixed.One
}

// FixedCosts returns the first proposer's share if every round of delay costs a party a fixed amount, c1 or
// c2, in place of a factor. The party with the lower cost receives almost everything. For equal costs every
// share starting at the cost is an equilibrium: least and most. It returns false if a cost is not in (0, 1].
//
// Source: Rubinstein (1982), section 5, conclusion 2.
func FixedCosts(c1, c2 fixed.Number) (least, most fixed.Number, ok bool) {
	switch {
	case c1 <= 0 || c2 <= 0 || c1 > fixed.One || c2 > fixed.One:
		return 0, 0, false
	case c1 > c2:
		return c2, c2, true
	case c1 < c2:
		return fixed.One, fixed.One, true
	}
	return c1, fixed.One, true
}
