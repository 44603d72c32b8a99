package bargain

import (
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Floats is a [Utility] that also provides the floats that NegMAS computes from the same file. They affect
// only the outcome order: see [Preferences.AsNegmas].
type Floats interface {
	Utility
	// Float returns the utility with the rounding errors of NegMAS' sum.
	Float(o Outcome) float64
}

// negmas is the inverse in NegMAS' order: all outcomes by rising floats.
type negmas struct {
	outcomes []Outcome
	floats   []float64
}

// newNegmas sorts the rational outcomes separately from the outcomes below the reservation value.
func newNegmas(domain *Domain, utility Utility, reservation fixed.Number) *negmas {
	size := domain.Size()
	n := &negmas{outcomes: make([]Outcome, 0, size), floats: make([]float64, 0, size)}
	for _, isRational := range []bool{false, true} {
		var outcomes []Outcome
		var floats []float64
		for o := range Outcome(size) {
			if f := floatOf(utility, o); f >= reservation.Float() == isRational {
				outcomes, floats = append(outcomes, o), append(floats, f)
			}
		}
		for _, at := range argsort(floats) {
			n.outcomes, n.floats = append(n.outcomes, outcomes[at]), append(n.floats, floats[at])
		}
	}
	return n
}

func floatOf(utility Utility, o Outcome) float64 {
	if floats, ok := utility.(Floats); ok {
		return floats.Float(o)
	}
	return utility.Of(o).Float()
}

// from returns the rank of the first outcome with a utility >= u, and after the rank of the first with a
// utility > u.
func (n *negmas) from(u fixed.Number) int {
	rank, _ := slices.BinarySearch(n.floats, u.Float())
	return rank
}

func (n *negmas) after(u fixed.Number) int {
	return int(search(uint64(len(n.floats)), func(rank uint64) bool { return n.floats[rank] > u.Float() }))
}

func (n *negmas) at(rank int) Outcome {
	if rank < 0 || rank >= len(n.outcomes) {
		return NoOutcome
	}
	return n.outcomes[rank]
}

func (n *negmas) AtLeast(target fixed.Number) Outcome { return n.at(n.from(target)) }

func (n *negmas) AtMost(target fixed.Number) Outcome { return n.at(n.after(target) - 1) }

func (n *negmas) Within(low, high fixed.Number, random *Random) Outcome {
	first, end := n.from(low), n.after(high)
	if first >= end {
		return NoOutcome
	}
	return n.outcomes[first+int(random.Below(uint64(end-first)))]
}

func (*negmas) Exact() bool { return true }

func (n *negmas) Descend() Cursor { return &negmasCursor{n, len(n.outcomes) - 1, -1} }

func (n *negmas) Ascend() Cursor { return &negmasCursor{n, 0, 1} }

type negmasCursor struct {
	inverse    *negmas
	next, step int
}

func (c *negmasCursor) Next() Outcome {
	o := c.inverse.at(c.next)
	if o != NoOutcome {
		c.next += c.step
	}
	return o
}

// insertion is the maximum number of keys where argsort uses insertion sort.
const insertion = 16

// argsort returns the indices of keys in rising order, as numpy's argsort does: the order of equal keys
// results from the sort steps. It is a median-of-three quicksort.
//
// Source: numpy 2.4, npysort/quicksort.cpp. numpy changes to heapsort after dividing the keys 2 log2(n)
// times. No scenario's utilities have caused this; here it never does.
func argsort(keys []float64) []int {
	order := make([]int, len(keys))
	for at := range order {
		order[at] = at
	}
	sortPart(keys, order)
	return order
}

func sortPart(keys []float64, order []int) {
	less := func(a, b int) bool { return keys[order[a]] < keys[order[b]] }
	swap := func(a, b int) { order[a], order[b] = order[b], order[a] }
	for len(order) > insertion {
		last := len(order) - 1
		middle := last / 2
		if less(middle, 0) {
			swap(middle, 0)
		}
		if less(last, middle) {
			swap(last, middle)
		}
		if less(middle, 0) {
			swap(middle, 0)
		}
		pivot := keys[order[middle]]
		low, high := 0, last-1
		swap(middle, high)
		for {
			for low++; keys[order[low]] < pivot; low++ {
			}
			for high--; pivot < keys[order[high]]; high-- {
			}
			if low >= high {
				break
			}
			swap(low, high)
		}
		swap(low, last-1)
		sortPart(keys, order[low+1:])
		order = order[:low]
	}
	for i := 1; i < len(order); i++ {
		index, at := order[i], i
		for ; at > 0 && keys[index] < keys[order[at-1]]; at-- {
			order[at] = order[at-1]
		}
		order[at] = index
	}
}
