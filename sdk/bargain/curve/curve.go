// Package curve implements concession curves: the level, over relative time, is the part of the rational
// utility range that a party claims. It falls from 1, the best outcome, to 0, the reservation value.
package curve

import (
	"sync"
	"sync/atomic"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Curve is a concession curve. An implementation is a comparable value.
type Curve interface {
	// Level returns the claimed part for a relative time, 0 to [fixed.One].
	Level(t fixed.Number) fixed.Number
}

// Polynomial is Faratin's polynomial decision function, also used by GENIUS' time dependent agents: the
// concession is F(t) = K + (1-K) t^(1/E), and the level 1 - F(t). E < 1 is Boulware, E > 1 Conceder; E = 0 is
// a hardliner, staying at 1-K.
//
// Source: Faratin, Sierra, Jennings: Negotiation Decision Functions for Autonomous Agents (1998), section
// 4.1; GENIUS 10.4, TimeDependent_Offering.
type Polynomial struct{ K, E fixed.Number }

// Level evaluates the polynomial.
func (p Polynomial) Level(t fixed.Number) fixed.Number {
	if p.E <= 0 {
		return fixed.One - p.K
	}
	return (fixed.One - p.K).Mul(fixed.One - fixed.Pow(t, fixed.One.Div(p.E)))
}

// Exponential is Faratin's exponential decision function: the concession is e^((1-t)^E ln K): K at the start
// and 1 at the deadline. E < 1 is Boulware, E > 1 Conceder. K must be positive; Faratin uses 0.1.
//
// Source: Faratin, Sierra, Jennings (1998), section 4.1.
type Exponential struct{ K, E fixed.Number }

// Level evaluates the exponential function.
func (e Exponential) Level(t fixed.Number) fixed.Number {
	power := fixed.Pow(fixed.One-t, e.E)
	return fixed.One - fixed.Exp(power.Mul(fixed.Log(e.K.Clamp(1, fixed.One))))
}

// Aspiration is NegMAS' polynomial aspiration: the level is Max (1 - t^Exponent). 4 is Boulware, 1 linear,
// 0.25 Conceder: the exponent works opposite to [Polynomial]'s.
//
// Source: NegMAS 0.16, negotiators/helpers.py, PolyAspiration.
type Aspiration struct{ Max, Exponent fixed.Number }

// Level evaluates the polynomial aspiration.
func (a Aspiration) Level(t fixed.Number) fixed.Number {
	return a.Max.Mul(fixed.One - fixed.Pow(t, a.Exponent))
}

// ExpAspiration is NegMAS' exponential aspiration: the level is Max (e^((1-t)^Exponent) - 1) / (e - 1). 0.125
// is Boulware, 0.725 about linear, 4 Conceder.
//
// Source: NegMAS 0.16, negotiators/helpers.py, ExpAspiration.
type ExpAspiration struct{ Max, Exponent fixed.Number }

// Level evaluates the exponential aspiration.
func (a ExpAspiration) Level(t fixed.Number) fixed.Number {
	const e = 2_718_281_828_459
	power := fixed.Pow(fixed.One-t, a.Exponent)
	// At the deadline e * e^-1 rounds to less than 1.
	return a.Max.Mul(max(0, fixed.Number(e).Mul(fixed.Exp(power-fixed.One))-fixed.One).Div(e - fixed.One))
}

// Bezier is a quadratic Bezier curve through Start and End, with the control point Middle.
//
// Source: NegMAS 0.16, HybridOfferingPolicy, from ANAC 2020's Hybrid Agent.
type Bezier struct{ Start, Middle, End fixed.Number }

// Level evaluates the Bezier curve.
func (b Bezier) Level(t fixed.Number) fixed.Number {
	rest := fixed.One - t
	return rest.Mul(rest).Mul(b.Start) + 2*rest.Mul(t).Mul(b.Middle) + t.Mul(t).Mul(b.End)
}

// Constant is a constant level.
type Constant fixed.Number

// Level returns the constant.
func (c Constant) Level(fixed.Number) fixed.Number { return fixed.Number(c) }

// The curves with the names of their literature.
var (
	// GeniusBoulware, GeniusLinear and GeniusConceder are GENIUS' agents: E is 0.2, 1 and 2.
	GeniusBoulware = Polynomial{E: fixed.One / 5}
	GeniusLinear   = Polynomial{E: fixed.One}
	GeniusConceder = Polynomial{E: 2 * fixed.One}
	// NegmasBoulware, NegmasLinear and NegmasConceder are NegMAS' aspirations: the exponent is 4, 1 and 0.25.
	NegmasBoulware = Aspiration{Max: fixed.One, Exponent: 4 * fixed.One}
	NegmasLinear   = Aspiration{Max: fixed.One, Exponent: fixed.One}
	NegmasConceder = Aspiration{Max: fixed.One, Exponent: fixed.One / 4}
)

// maxTables bounds the cache of tables; maxSteps is the longest table.
const maxTables, maxSteps = 1024, 1 << 16

var (
	tables     sync.Map // of key to *Table
	tableCount atomic.Int64
	// recent caches the last table: usually both parts of a strategy, and both parties, share a table.
	recent atomic.Pointer[Table]
)

type key struct {
	curve Curve
	steps int
}

// Table is a curve with precomputed levels for the times (step+1)/(steps+1).
type Table struct {
	curve         Curve
	times, levels []fixed.Number
}

// Tabulate returns a curve's table for a number of steps. It keeps up to 1,024 tables for later calls. If
// steps is unlimited or above 65,536, the table is empty.
func Tabulate(curve Curve, steps int) *Table {
	if steps <= 0 || steps > maxSteps {
		return &Table{curve: curve}
	}
	if table := recent.Load(); table != nil && len(table.times) == steps && table.curve == curve {
		return table
	}
	k := key{curve, steps}
	if table, ok := tables.Load(k); ok {
		known, _ := table.(*Table)
		recent.Store(known)
		return known
	}
	table := &Table{curve: curve, times: make([]fixed.Number, steps), levels: make([]fixed.Number, steps)}
	for step := range steps {
		table.times[step] = fixed.Ratio(int64(step)+1, int64(steps)+1)
		table.levels[step] = curve.Level(table.times[step])
	}
	if tableCount.Load() < maxTables {
		if _, loaded := tables.LoadOrStore(k, table); !loaded {
			tableCount.Add(1)
		}
	}
	return table
}

// Len returns the number of steps of the table.
func (t *Table) Len() int { return len(t.levels) }

// Has reports whether the table covers a step and a time.
func (t *Table) Has(step int, time fixed.Number) bool {
	return step < len(t.times) && t.times[step] == time
}

// At returns the level for a step and a time. It computes levels missing from the table.
func (t *Table) At(step int, time fixed.Number) fixed.Number {
	if t.Has(step, time) {
		return t.levels[step]
	}
	return t.curve.Level(time)
}
