package model

import "math/bits"

// maxBps is 100 % in basis points.
const maxBps = 10_000

// floorBps returns amount * bps / 10,000, rounded down. bps must not exceed 10,000.
func floorBps(amount uint64, bps uint16) uint64 { return mulDiv(amount, uint64(bps), maxBps) }

// roundBps returns amount * bps / 10,000, rounded half up. bps must not exceed 10,000.
func roundBps(amount uint64, bps uint16) uint64 {
	high, low := bits.Mul64(amount, uint64(bps))
	low, carry := bits.Add64(low, maxBps/2, 0)
	quotient, _ := bits.Div64(high+carry, low, maxBps)
	return quotient
}

// mulDiv returns a * b / c, rounded down, with a 128-bit product. b is at most c, and c is not zero.
func mulDiv(a, b, c uint64) uint64 {
	high, low := bits.Mul64(a, b)
	quotient, _ := bits.Div64(high, low, c)
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

// checkedAdd returns a + b and reports whether it fits in 64 bits.
func checkedAdd(a, b int64) (sum int64, ok bool) {
	sum = a + b
	return sum, (sum >= a) == (b >= 0)
}

// within reports whether to lies at least least and not more than most seconds after from.
func within(from, to int64, least, most uint64) bool {
	// The difference of two times fits in 64 bits even where the sum of time and duration does not.
	seconds := uint64(to) - uint64(from)
	return to >= from && seconds >= least && seconds <= most
}

func addAmounts(a, b [2]uint64) [2]uint64 {
	return [2]uint64{a[Buyer] + b[Buyer], a[Seller] + b[Seller]}
}
