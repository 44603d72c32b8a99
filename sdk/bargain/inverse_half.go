package bargain

import (
	"cmp"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// partial is a combination of values of some issues: the sum of its parts of the utility, and its share of
// the outcome's number.
type partial struct {
	sum    fixed.Number
	offset Outcome
}

// half is a list of pairs: partial combinations in the order of rising sums. It is stored, or computed from
// one monotone issue of any size.
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
		if sign := utility.Direction(issues[0]); sign != 0 {
			at := issues[0]
			return half{issue: &monotone{
				utility: utility, at: at, count: domain.Issue(at).Count, stride: domain.strides[at],
				falling: sign < 0,
			}}
		}
	}
	list := []partial{{}}
	for _, at := range issues {
		earlier := list
		list = make([]partial, 0, len(earlier)*int(domain.Issue(at).Count))
		for _, p := range earlier {
			for index := range domain.Issue(at).Count {
				offset := p.offset + Outcome(index*domain.strides[at])
				list = append(list, partial{p.sum + utility.Part(at, index), offset})
			}
		}
	}
	slices.SortFunc(list, func(a, b partial) int {
		if order := cmp.Compare(a.sum, b.sum); order != 0 {
			return order
		}
		return cmp.Compare(a.offset, b.offset)
	})
	return half{list: list}
}
