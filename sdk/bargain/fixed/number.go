// Package fixed implements package bargain's numbers: decimal fixed point in an int64, with 12 decimals.
//
// All operations are integer arithmetic. A result is therefore the same on every processor, which floating
// point does not guarantee: a compiler may fuse a multiplication and an addition. Decimal fractions of
// scenario files, such as 0.1, are exact, so equal utilities stay equal. Floats leave the package for
// reports only: see [Number.Float].
package fixed

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Number counts units of 10^-12. Numbers lie between about -9.2 million and 9.2 million.
type Number int64

// Constants.
const (
	// Decimals is the number of digits after the decimal point.
	Decimals = 12
	// One represents 1.
	One Number = 1_000_000_000_000
	// Max and Min limit all numbers.
	Max Number = math.MaxInt64
	Min Number = -math.MaxInt64
)

// ErrRange reports a number outside the range.
var ErrRange = errors.New("fixed: number out of range")

// Int converts an integer to a Number, saturating at [Max] or [Min].
func Int(n int64) Number {
	switch {
	case n > int64(Max/One):
		return Max
	case n < int64(Min/One):
		return Min
	}
	return Number(n) * One
}

// Ratio returns a/b, rounded half away from zero. On overflow, or if b = 0, it returns [Max] or [Min] by the
// sign of a.
func Ratio(a, b int64) Number { return Number(mulDiv(a, int64(One), b)) }

// Mul returns n*m, rounded half away from zero, saturating at [Max] or [Min].
func (n Number) Mul(m Number) Number { return Number(mulDiv(int64(n), int64(m), int64(One))) }

// Div returns n/m with the rounding and the limits of [Ratio].
func (n Number) Div(m Number) Number { return Ratio(int64(n), int64(m)) }

// Scale returns n*a/b, with a 128-bit product, rounded half away from zero, saturating at [Max] or [Min].
func (n Number) Scale(a, b int64) Number { return Number(mulDiv(int64(n), a, b)) }

// Add returns n+m, saturating at [Max] or [Min].
func (n Number) Add(m Number) Number {
	sum := n + m
	switch {
	case n > 0 && m > 0 && sum < 0:
		return Max
	case n < 0 && m < 0 && sum >= 0, sum < Min:
		return Min
	}
	return sum
}

// Sub returns n-m, saturating at [Max] or [Min].
func (n Number) Sub(m Number) Number { return n.Add(-m) }

// Clamp limits n to [low, high].
func (n Number) Clamp(low, high Number) Number { return max(low, min(n, high)) }

// Float converts the number to a float64, for reports.
func (n Number) Float() float64 { return float64(n) / float64(One) }

// String formats the shortest decimal notation, which [Parse] reads back.
func (n Number) String() string {
	sign, size := "", magnitude(int64(n))
	if n < 0 {
		sign = "-"
	}
	whole, part := size/uint64(One), size%uint64(One)
	if part == 0 {
		return sign + strconv.FormatUint(whole, 10)
	}
	return sign + strconv.FormatUint(whole, 10) + "." + strings.TrimRight(fmt.Sprintf("%012d", part), "0")
}

// MarshalText formats as String does.
func (n Number) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText parses text as Parse does.
func (n *Number) UnmarshalText(text []byte) (err error) {
	*n, err = Parse(string(text))
	return err
}

// Parse reads a decimal number such as "-12.5", ".5" or "3e-4". Digits after the twelfth decimal are rounded
// half away from zero. It returns [ErrRange], or a syntax error that quotes the text.
func Parse(text string) (Number, error) {
	digits, exponent, err := split(text)
	if err != nil {
		return 0, err
	}
	negative := strings.HasPrefix(text, "-")
	shift := exponent + Decimals
	round := false
	switch {
	case len(digits) == 0 || len(digits)+shift < 0:
		return 0, nil
	case len(digits)+shift > 19:
		return 0, fmt.Errorf("%w: %s", ErrRange, text)
	case shift >= 0:
		digits += strings.Repeat("0", shift)
	default:
		cut := len(digits) + shift
		round, digits = digits[cut] >= '5', digits[:cut]
	}
	var size uint64
	if digits != "" {
		if size, err = strconv.ParseUint(digits, 10, 64); err != nil {
			return 0, fmt.Errorf("%w: %s", ErrRange, text)
		}
	}
	if round {
		size++
	}
	if size > uint64(Max) {
		return 0, fmt.Errorf("%w: %s", ErrRange, text)
	}
	if negative {
		return -Number(size), nil
	}
	return Number(size), nil
}

// split returns a number's digits, stripped of leading zeros, and the last digit's power of ten.
func split(text string) (digits string, exponent int, err error) {
	syntax := fmt.Errorf("fixed: %q is not a decimal number", text)
	mantissa := strings.TrimPrefix(text, "-")
	if mantissa == text {
		mantissa = strings.TrimPrefix(text, "+")
	}
	if at := strings.IndexAny(mantissa, "eE"); at >= 0 {
		exponent, err = strconv.Atoi(mantissa[at+1:])
		if err != nil || exponent > 1_000 || exponent < -1_000 {
			return "", 0, syntax
		}
		mantissa = mantissa[:at]
	}
	whole, part, _ := strings.Cut(mantissa, ".")
	digits = whole + part
	if digits == "" || len(digits) > 1_000 || strings.Trim(digits, "0123456789") != "" {
		return "", 0, syntax
	}
	return strings.TrimLeft(digits, "0"), exponent - len(part), nil
}

func magnitude(n int64) uint64 {
	if n < 0 {
		return -uint64(n)
	}
	return uint64(n)
}

// mulDiv computes a*b/c, rounded and limited as by [Ratio].
func mulDiv(a, b, c int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	negative := (a < 0) != (b < 0) != (c < 0)
	high, low := bits.Mul64(magnitude(a), magnitude(b))
	divisor := magnitude(c)
	result := uint64(Max)
	if high < divisor {
		quotient, rest := bits.Div64(high, low, divisor)
		if rest >= divisor-rest {
			quotient++
		}
		result = min(quotient, uint64(Max))
	}
	if negative {
		return -int64(result)
	}
	return int64(result)
}
