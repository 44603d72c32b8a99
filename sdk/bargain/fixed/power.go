package fixed

import "math/bits"

// The functions below work on binary fractions: log2 uses 58 bits after the point, mantissas 63. Results
// differ from the exact value by less than 10^-12; the tests compare with math/big.

const fractionBits = 58

// Pow returns base^exponent for base from 0 to [One] and exponent from 0: the concession t^e at time t. 0^0
// equals 1. Bases out of range are clamped, negative exponents count as 0.
func Pow(base, exponent Number) Number {
	switch base = base.Clamp(0, One); {
	case exponent <= 0 || base == One:
		return One
	case base == 0:
		return 0
	case exponent == One:
		return base
	}
	// base = 2^-x, so base^exponent = 2^-(x*exponent).
	x := negativeLog2(uint64(base), uint64(One))
	high, low := bits.Mul64(x, uint64(exponent))
	if high >= uint64(One) {
		return 0
	}
	product, _ := bits.Div64(high, low, uint64(One))
	return exp2(product)
}

// ln2 is the natural logarithm of 2, in parts of 2^63.
const ln2 = 0x58B90BFBE8E7BCD6

// Exp returns e^x for x <= 0: a discount. Positive x counts as 0.
func Exp(x Number) Number {
	if x >= 0 {
		return One
	}
	// e^x = 2^-(-x/ln 2). Below -30 the result is less than half a unit.
	if x < -30*One {
		return 0
	}
	// -x * 2^58 / One, then * 2^63 / ln2.
	high, low := bits.Mul64(uint64(-x), 1<<fractionBits)
	scaled, _ := bits.Div64(high, low, uint64(One))
	high, low = scaled>>1, scaled<<63
	quotient, _ := bits.Div64(high, low, ln2)
	return exp2(quotient)
}

// Log returns the natural logarithm if x is positive, and [Min] otherwise.
func Log(x Number) Number {
	if x <= 0 {
		return Min
	}
	var log2 uint64
	negative := x < One
	if negative {
		log2 = negativeLog2(uint64(x), uint64(One))
	} else {
		log2 = negativeLog2(uint64(One), uint64(x))
	}
	high, low := bits.Mul64(log2, ln2)
	natural := high<<1 | low>>63
	// natural counts units of 2^-58, and is less than 2^63: the result is natural * One / 2^58, rounded.
	high, low = bits.Mul64(natural, uint64(One))
	low, carry := bits.Add64(low, 1<<(fractionBits-1), 0)
	high += carry
	result := Number(high<<(64-fractionBits) | low>>fractionBits)
	if negative {
		return -result
	}
	return result
}

// negativeLog2 computes -log2(a/b) for 0 < a <= b, in parts of 2^58, below 64*2^58 = 2^64.
func negativeLog2(a, b uint64) uint64 {
	mantissaA, shiftA := normalize(a)
	mantissaB, shiftB := normalize(b)
	whole := uint64(shiftA-shiftB) << fractionBits
	return whole + log2Fraction(mantissaB) - log2Fraction(mantissaA)
}

// normalize shifts a number left into [2^63, 2^64), and returns the shift in bits as well.
func normalize(n uint64) (mantissa uint64, shift int) {
	shift = bits.LeadingZeros64(n)
	return n << shift, shift
}

// log2Fraction computes log2(m/2^63) for m in [2^63, 2^64), in units of 2^-58: every squaring yields a binary
// digit.
func log2Fraction(m uint64) (log uint64) {
	for range fractionBits + 2 {
		log <<= 1
		high, low := bits.Mul64(m, m)
		if high>>63 == 1 {
			m = high
			log |= 1
		} else {
			m = high<<1 | low>>63
		}
	}
	return (log + 2) >> 2
}

// exp2 computes 2^-(x/2^58) as a Number, rounded to the nearest part.
func exp2(x uint64) Number {
	whole := x >> fractionBits
	if whole > 41 {
		return 0
	}
	// 2^-f for f in [0, 1) is the product of the factors 2^-(2^-k) for the set bits of f.
	value := uint64(1 << 63)
	for k := range fractionBits {
		if x>>(fractionBits-1-k)&1 == 1 {
			high, low := bits.Mul64(value, roots[k])
			value = high + low>>63
		}
	}
	high, low := bits.Mul64(value, uint64(One))
	shift := 63 + uint(whole)
	low, carry := bits.Add64(low, half(shift), 0)
	high += carry + halfHigh(shift)
	if shift >= 64 {
		return Number(high >> (shift - 64))
	}
	return Number(high<<(64-shift) | low>>shift)
}

// half and halfHigh return 2^(shift-1) as two words.
func half(shift uint) uint64 {
	if shift > 64 {
		return 0
	}
	return 1 << (shift - 1)
}

func halfHigh(shift uint) uint64 {
	if shift <= 64 {
		return 0
	}
	return 1 << (shift - 65)
}

// roots[k] is 2^-(2^-(k+1)) in units of 2^-64: every root is the square root of the previous root.
var roots = func() (roots [fractionBits]uint64) {
	square := uint64(1 << 63)
	for k := range roots {
		roots[k] = squareRoot(square, 0)
		square = roots[k]
	}
	return roots
}()

// squareRoot returns a 128-bit number's square root, rounded down.
func squareRoot(high, low uint64) (root uint64) {
	for bit := uint64(1 << 63); bit != 0; bit >>= 1 {
		try := root | bit
		h, l := bits.Mul64(try, try)
		if h < high || h == high && l <= low {
			root = try
		}
	}
	return root
}
