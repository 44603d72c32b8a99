package bargain

import (
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// partial is a combination of values of some issues: the sum of its parts of the utility, and its share of
// the outcome's number.
type partial struct {
	sum    fixed.Number
	offset Outcome
}

// half is a list of partial combinations in the order of rising sums. It is stored, or computed from one
// monotone issue of any size.
type half struct {
	list []partial
	// issue is set if list is nil.
	issue *monotone
}

// monotone is an issue whose part of the utility never falls or never rises with the index.
type monotone struct {
	utility       Additive
	at            int
	count, stride uint64
	falling       bool
}

func (h *half) len() uint64 {
	if h.list != nil {
		return uint64(len(h.list))
	}
	return h.issue.count
}

func (h *half) at(rank uint64) partial {
	if h.list != nil {
		return h.list[rank]
	}
	return h.issue.of(rank)
}

func (m *monotone) of(rank uint64) partial {
	if m.falling {
		rank = m.count - 1 - rank
	}
	return partial{m.utility.Part(m.at, rank), Outcome(rank * m.stride)}
}

// from returns the first rank whose sum is at least s. The closer near is to it, the fewer steps it needs.
func (h *half) from(s fixed.Number, near uint64) uint64 {
	if h.list == nil {
		return searchNear(h.len(), near, func(rank uint64) bool { return h.at(rank).sum >= s })
	}
	// This is searchNear without a call for each step.
	list, low, high := h.list, uint64(0), h.len()
	if near < high && list[near].sum >= s {
		high = near
		for step := uint64(1); step <= high; step *= 2 {
			if list[high-step].sum < s {
				low = high - step + 1
				break
			}
			high -= step
		}
	} else {
		low = min(near+1, high)
		for step := uint64(1); step <= high-low; step *= 2 {
			if list[low+step-1].sum >= s {
				high = low + step - 1
				break
			}
			low += step
		}
	}
	for low < high {
		if middle := low + (high-low)/2; list[middle].sum >= s {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// after returns the first rank whose sum is more than s. The search starts near a rank.
func (h *half) after(s fixed.Number, near uint64) uint64 { return h.from(s+1, near) }

// lowest returns the combination with the lowest offset among those with the sum of a rank.
func (h *half) lowest(rank uint64) partial {
	if h.list == nil && h.issue.falling {
		return h.at(h.after(h.at(rank).sum, rank) - 1)
	}
	return h.at(h.from(h.at(rank).sum, rank))
}

func newHalf(domain *Domain, utility Additive, issues []int) half {
	if len(issues) == 1 && domain.Issue(issues[0]).Count > maxRight {
		if sign := utility.IsMonotone(issues[0]); sign != 0 {
			at := issues[0]
			return half{issue: &monotone{
				utility: utility, at: at, count: domain.Issue(at).Count, stride: domain.strides[at],
				falling: sign < 0,
			}}
		}
	}
	var values []partial
	var runs []run
	for _, at := range issues {
		values, runs = appendValues(values, runs, domain, utility, at)
	}
	return half{list: combine(nil, values, runs)}
}

// run is the part of a list that has the values of an issue, in the order of rising sums.
type run struct {
	first, end int
	// span is the difference between the last and the first sum.
	span fixed.Number
}

// span returns the difference between the last and the first sum of a list.
func span(list []partial) fixed.Number { return list[len(list)-1].sum - list[0].sum }

// appendValues appends the values of an issue to a list, and their run.
func appendValues(
	list []partial, runs []run, domain *Domain, utility Additive, at int,
) ([]partial, []run) {
	first := len(list)
	for index := range domain.Issue(at).Count {
		list = append(list, partial{utility.Part(at, index), Outcome(index * domain.strides[at])})
	}
	sortPartials(list[first:])
	return list, append(runs, run{first, len(list), span(list[first:])})
}

// combine returns all combinations of the runs' values in the order of rising sums. It is the fastest if the
// first runs have the larger gaps. It reuses the memory if its capacity suffices.
func combine(memory, values []partial, runs []run) []partial {
	size := 1
	for _, r := range runs {
		size *= r.end - r.first
	}
	if size > cap(memory) {
		memory = make([]partial, size)
	}
	list, done := memory[:size], 1
	list[0] = partial{}
	for _, r := range runs {
		count := r.end - r.first
		for i := done - 1; i >= 0; i-- { // downwards: row 0 replaces the earlier combinations
			p, row := list[i], list[i*count:(i+1)*count]
			for j, q := range values[r.first:r.end] {
				row[j] = partial{p.sum + q.sum, p.offset + q.offset}
			}
		}
		done *= count
	}
	if len(runs) > 1 {
		sortPartials(list)
	}
	return list
}

func (p partial) precedes(other partial) bool {
	if p.sum != other.sum {
		return p.sum < other.sum
	}
	return p.offset < other.offset
}

// sortPartials sorts by rising sums, equal ones by their offset.
func sortPartials(list []partial) {
	if len(list) > shortPartials {
		slices.SortFunc(list, func(a, b partial) int {
			switch {
			case a.precedes(b):
				return -1
			case b.precedes(a):
				return 1
			}
			return 0
		})
		return
	}
	for i := 1; i < len(list); i++ {
		p, at := list[i], i
		for ; at > 0 && p.precedes(list[at-1]); at-- {
			list[at] = list[at-1]
		}
		list[at] = p
	}
}

// shortPartials is the number of elements up to which a sort by insertion is the fastest: most lists are
// nearly sorted.
const shortPartials = 48
