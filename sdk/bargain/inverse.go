package bargain

import "github.com/haggle-protocol/haggle/sdk/bargain/fixed"

// Inverse finds outcomes by their utility. Its answers do not change, and several goroutines can use it.
type Inverse interface {
	// AtLeast returns the outcome with the lowest utility from target on, or [NoOutcome].
	AtLeast(target fixed.Number) Outcome
	// AtMost returns the outcome with the highest utility up to target, or [NoOutcome].
	AtMost(target fixed.Number) Outcome
	// Within returns a random outcome with a utility from low to high, all with the same probability, or
	// [NoOutcome].
	Within(low, high fixed.Number, random *Random) Outcome
	// Descend returns the outcomes in the order of falling utility, Ascend in that of rising utility.
	Descend() Cursor
	Ascend() Cursor
	// Exact reports whether no outcome is missing. If false, the outcomes are a sample.
	Exact() bool
}

// Cursor iterates over outcomes. It belongs to one goroutine.
type Cursor interface {
	// Next returns the next outcome, or [NoOutcome] at the end.
	Next() Outcome
}

// MaxSorted is the number of outcomes up to which an inverse sorts all. Of a larger domain it takes a sample,
// unless the utility is [Additive].
const MaxSorted = 1 << 20

// newInverse returns the inverse for a domain and a utility for which isLazy is false: see the package
// comment.
func newInverse(domain *Domain, utility Utility) Inverse {
	if additive, ok := utility.(Additive); ok {
		if domain.Len() > 1 {
			if large := newLarge(domain, additive); large != nil {
				return large
			}
		} else if sign := additive.Direction(0); sign != 0 {
			return newLine(domain.Size(), utility, sign > 0)
		}
	}
	if domain.Size() <= MaxSorted {
		return newSorted(domain, utility)
	}
	return newSampled(domain, utility)
}

// Closest returns the outcome whose utility is closest to target, the better one of two.
func Closest(inverse Inverse, utility Utility, target fixed.Number) Outcome {
	above, below := inverse.AtLeast(target), inverse.AtMost(target)
	switch {
	case above == NoOutcome:
		return below
	case below == NoOutcome:
		return above
	}
	if utility.Of(above)-target <= target-utility.Of(below) {
		return above
	}
	return below
}

// search returns the smallest number below n for which is is true, or n: is must be false up to some number
// and true from it on.
func search(n uint64, is func(uint64) bool) uint64 {
	low, high := uint64(0), n
	for low < high {
		middle := low + (high-low)/2
		if is(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// searchNear returns the result of search. The closer near is to the result, the fewer steps it needs.
func searchNear(n, near uint64, is func(uint64) bool) uint64 {
	low, high := uint64(0), n
	if near >= n {
		near = n - 1
	}
	if is(near) {
		high = near
		for step := uint64(1); low < high; step *= 2 {
			if step > high-low {
				break
			}
			if !is(high - step) {
				low = high - step + 1
				break
			}
			high -= step
		}
	} else {
		low = near + 1
		for step := uint64(0); low < high; step = 2*step + 1 {
			if step >= high-low {
				break
			}
			if is(low + step) {
				high = low + step
				break
			}
			low += step + 1
		}
	}
	return low + search(high-low, func(at uint64) bool { return is(low + at) })
}
