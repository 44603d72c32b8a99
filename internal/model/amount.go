package model

import "math/bits"

// whole is 100 % in basis points.
const whole = 10_000

// floored is amount * bps / 10,000, rounded down, for bps up to 10,000.
func floored(amount uint64, bps uint16) uint64 {
	high, low := bits.Mul64(amount, uint64(bps))
	quotient, _ := bits.Div64(high, low, whole)
	return quotient
}

// rounded is amount * bps / 10,000, rounded half up, for bps up to 10,000.
func rounded(amount uint64, bps uint16) uint64 {
	high, low := bits.Mul64(amount, uint64(bps))
	low, carry := bits.Add64(low, whole/2, 0)
	quotient, _ := bits.Div64(high+carry, low, whole)
	return quotient
}

// midpoint is the mean of two amounts, rounded down.
func midpoint(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	return sum>>1 | carry<<63
}

func saturatingAdd(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return 1<<64 - 1
	}
	return sum
}

// plus adds numbers that may be anything, and reports whether the sum fits.
func plus(a, b int64) (int64, bool) {
	sum := a + b
	return sum, (sum >= a) == (b >= 0)
}

// between reports whether a time comes so many seconds after another, at least and at most.
func between(from, to int64, least, most uint64) bool {
	// The difference of two times fits even where their sum with a duration would not.
	seconds := uint64(to) - uint64(from)
	return to >= from && seconds >= least && seconds <= most
}
