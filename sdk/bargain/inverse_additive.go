package bargain

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// lists holds two lists of combinations of an additive utility's values, for domains with up to MaxSorted
// outcomes; pairs handles larger domains. An outcome joins a left and a right combination, and the outcome's
// key is the sum of both keys. Keys rise within a list.
//
// A key is a number with two fields. The upper bits hold the sum of the combination's utility parts, less the
// issues' lowest parts. The lower bits hold the combination's share of the outcome's number. So keys sort by
// rising utility, and at equal utility by outcome number.
type lists struct {
	left, right []uint64
	// shift is the number of lower bits.
	shift uint
	// rows is the approximate number of rows visited by a query: a row is a left list element.
	rows uint64
	// spent counts the rows of all queries.
	spent *atomic.Int64
}

// hasKeys reports whether keys can represent size outcomes and utilities between least and most. size must
// not exceed MaxSorted.
func hasKeys(size uint64, least, most fixed.Number) bool {
	return int(lowerBits(size))+bits.Len64(uint64(most-least)) < 64
}

// lowerBits returns the number of bits for an outcome's number.
func lowerBits(size uint64) uint { return uint(bits.Len64(size-1)) % 64 }

// run is the range of an issue's keys in newLists' key list. The keys rise.
type run struct {
	first, end int
	// last holds the highest key.
	last uint64
}

// newLists returns two lists that are about equally long.
//
// Group the issues by importance: the more important issues go into one list, the less important issues into
// another. Then the less important sums fit into the gaps between the important sums as far as possible, and
// few rows can contain a target's outcome.
func newLists(domain *Domain, utility Additive, spent *atomic.Int64) *lists {
	l := &lists{shift: lowerBits(domain.Size()), spent: spent}
	keys, runs := make([]uint64, 0, 64), make([]run, 0, 8)
	tabled, _ := utility.(Tabled)
	for at := range domain.Len() {
		first, lowest := len(keys), fixed.Max
		var table []fixed.Number
		if tabled != nil {
			table = tabled.Table(at)
		}
		if table != nil {
			for _, part := range table {
				lowest = min(lowest, part)
				keys = append(keys, uint64(part))
			}
		} else {
			for index := range domain.Issue(at).Count {
				part := utility.Part(at, index)
				lowest = min(lowest, part)
				keys = append(keys, uint64(part))
			}
		}
		own := keys[first:]
		stride, shift := domain.strides[at], l.shift%64
		for i := range own {
			own[i] = (own[i]-uint64(lowest))<<shift + uint64(i)*stride
		}
		sortKeys(own)
		runs = append(runs, run{first, len(keys), own[len(own)-1]})
		for i := at; i > 0 && runs[i].last>>l.shift > runs[i-1].last>>l.shift; i-- {
			runs[i], runs[i-1] = runs[i-1], runs[i]
		}
	}
	cut, size, least, left := 0, uint64(1), domain.Size()+1, uint64(1)
	for i, r := range runs {
		left *= uint64(r.end - r.first)
		if sum := left + domain.Size()/left; sum < least {
			cut, size, least = i+1, left, sum
		}
	}
	memory := make([]uint64, least)
	l.left, l.right = memory[:size:size], memory[size:]
	combine(l.left, keys, runs[:cut])
	combine(l.right, keys, runs[cut:])
	l.rows = l.countRows(l.left, l.right)
	if other := l.countRows(l.right, l.left); other < l.rows {
		l.left, l.right, l.rows = l.right, l.left, other
	}
	return l
}

// combine fills list with the keys for all combinations of the runs, in rising order. It is fastest if the
// first runs contain the larger gaps.
func combine(list, keys []uint64, runs []run) {
	done := 1
	list[0] = 0
	for _, r := range runs {
		count := r.end - r.first
		for i := done - 1; i >= 0; i-- { // downwards: block 0 replaces the earlier combinations
			key, block := list[i], list[i*count:(i+1)*count]
			for j, own := range keys[r.first:r.end] {
				block[j] = key + own
			}
		}
		done *= count
	}
	if len(runs) > 1 {
		sortKeys(list)
	}
}

// sortKeys sorts a list of keys. Most short lists are nearly sorted, so it sorts these by insertion.
func sortKeys(list []uint64) {
	if len(list) > shortKeys {
		slices.Sort(list)
		return
	}
	for i := 1; i < len(list); i++ {
		key, at := list[i], i
		for ; at > 0 && key < list[at-1]; at-- {
			list[at] = list[at-1]
		}
		list[at] = key
	}
}

// shortKeys is the maximum number of keys where insertion sort is fastest.
const shortKeys = 48

// countRows returns the approximate number of left list elements visited by a query: the elements with sums
// on both sides of a target.
func (l *lists) countRows(left, right []uint64) uint64 {
	count := uint64(len(left))
	if own, other := left[len(left)-1]>>l.shift, right[len(right)-1]>>l.shift; own > other {
		high, low := bits.Mul64(count, other)
		count, _ = bits.Div64(high, low, own)
	}
	return count + 1
}

// atLeast returns the outcome with the lowest utility at or above the minimum utility plus distance. distance
// must not exceed the range. It finds the first matching key in every row. The left elements rise, so the
// position in the right list falls from row to row. It skips rows with no matching key, and rows where all
// keys exceed a key already found.
func (l *lists) atLeast(distance uint64) Outcome {
	l.spent.Add(int64(l.rows))
	need, found := distance<<l.shift, ^uint64(0)
	at := len(l.right) - 1
	lowest, rank := l.right[0], 0
	if highest := l.right[at]; need > highest {
		rank = firstFrom(l.left, need-highest, len(l.left)/2)
	}
	for ; rank < len(l.left) && l.left[rank]+lowest < found; rank++ {
		left := l.left[rank]
		at = firstFrom(l.right, need-min(left, need), at)
		found = min(found, left+l.right[at])
	}
	return Outcome(found &^ l.upper())
}

// upper returns the mask of the upper bits.
func (l *lists) upper() uint64 { return ^uint64(0) << l.shift }

// atMost returns the outcome with the highest utility not above the minimum utility plus distance. distance
// must not exceed the range. It visits the rows starting at the last row with a matching key. The highest key
// belongs to the last outcome with this utility, so atLeast finds the first such outcome.
func (l *lists) atMost(distance uint64) Outcome {
	end, found := (distance+1)<<l.shift, uint64(0)
	at, highest := 0, l.right[len(l.right)-1]
	for rank := firstFrom(l.left, end-l.right[0], len(l.left)/2); rank > 0; rank-- {
		left := l.left[rank-1]
		if left+highest <= found {
			break
		}
		at = firstFrom(l.right, end-left, at)
		found = max(found, left+l.right[at-1])
	}
	return l.atLeast(found >> l.shift)
}

// firstFrom returns the index of the first element >= key in a sorted list, or the list's length. The closer
// near is to the result, the fewer steps it needs.
func firstFrom(list []uint64, key uint64, near int) int {
	low, high := 0, len(list)
	if near < high && list[near] >= key {
		high = near
		for step := 1; step <= high; step *= 2 {
			if list[high-step] < key {
				low = high - step + 1
				break
			}
			high -= step
		}
	} else {
		low = min(near+1, high)
		for step := 1; step <= high-low; step *= 2 {
			if list[low+step-1] >= key {
				high = low + step - 1
				break
			}
			low += step
		}
	}
	for low < high {
		if middle := int(uint(low+high) / 2); list[middle] >= key {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

func (l *lists) highest(count int, least fixed.Number) []ranked {
	left, right := l.left, l.right
	// The left list's last i elements and the right list's last j form i*j sums. The lowest sum adds the
	// first of the i and the first of the j.
	from := uint64(0)
	for i := 1; i <= min(count, len(left)); i++ {
		if j := (count + i - 1) / i; j <= len(right) {
			from = max(from, left[len(left)-i]+right[len(right)-j])
		}
	}
	from &= l.upper()
	const usual = 64 // needs no heap memory
	keys := make([]uint64, 0, usual)
	if 2*count > usual {
		keys = make([]uint64, 0, 2*count)
	}
	// The upper bits are inverted: then rising keys have falling utilities and rising numbers.
	for i := len(left) - 1; i >= 0 && left[i]+right[len(right)-1] >= from; i-- {
		for j := len(right) - 1; j >= 0 && left[i]+right[j] >= from; j-- {
			keys = append(keys, (left[i]+right[j])^l.upper())
		}
	}
	sortKeys(keys)
	list := make([]ranked, len(keys))
	for i, key := range keys {
		list[i] = ranked{least + fixed.Number((key^l.upper())>>l.shift), Outcome(key &^ l.upper())}
	}
	return list
}
