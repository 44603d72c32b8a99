package bargain

import (
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// sorted is the inverse by a list of outcomes in the order of falling utility, equal ones by their number.
type sorted struct {
	list  []ranked
	exact bool
}

// ranked is an outcome with its utility.
type ranked struct {
	utility fixed.Number
	outcome Outcome
}

func newSorted(domain *Domain, utility Utility) *sorted {
	list := make([]ranked, domain.Size())
	additive, ok := utility.(Additive)
	if !ok {
		for i := range list {
			list[i] = ranked{utility.Of(Outcome(i)), Outcome(i)}
		}
		return &sorted{list: spread(list), exact: true}
	}
	// The sums of the first issues become those of one issue more, from the last one on to keep the earlier.
	done := 1
	for at := range domain.Len() {
		parts := make([]fixed.Number, domain.Issue(at).Count)
		for index := range parts {
			parts[index] = additive.Part(at, uint64(index))
		}
		for i := done - 1; i >= 0; i-- {
			sum := list[i].utility
			for index := len(parts) - 1; index >= 0; index-- {
				list[i*len(parts)+index].utility = sum + parts[index]
			}
		}
		done *= len(parts)
	}
	for i := range list {
		list[i].outcome = Outcome(i)
	}
	return &sorted{list: spread(list), exact: true}
}

func sortOutcomes(outcomes []Outcome, utility Utility, exact bool) *sorted {
	list := make([]ranked, len(outcomes))
	for i, o := range outcomes {
		list[i] = ranked{utility.Of(o), o}
	}
	return &sorted{list: spread(list), exact: exact}
}

// precedes orders outcomes by falling utility, equal ones by their number.
func (r ranked) precedes(other ranked) bool {
	if r.utility != other.utility {
		return r.utility > other.utility
	}
	return r.outcome < other.outcome
}

func compareRanked(a, b ranked) int {
	switch {
	case a == b:
		return 0
	case a.precedes(b):
		return -1
	}
	return 1
}

// few is the number of elements up to which a sort by insertion is the fastest.
const few = 24

// spread returns a list in its order. It distributes the elements over as many buckets of equal width, so
// that it needs a time in proportion to their number unless most of them are close together.
func spread(list []ranked) []ranked {
	if len(list) <= few {
		insert(list)
		return list
	}
	least, most := list[0].utility, list[0].utility
	for i := range list {
		least, most = min(least, list[i].utility), max(most, list[i].utility)
	}
	// The bucket is the distance from the highest utility in parts of 2^shift.
	shift := 0
	for uint64(most-least)>>shift >= 2*uint64(len(list)) {
		shift++
	}
	ends := make([]uint32, uint64(most-least)>>shift+1)
	for i := range list {
		ends[uint64(most-list[i].utility)>>shift]++
	}
	start := uint32(0)
	for bucket, count := range ends {
		ends[bucket] = start
		start += count
	}
	out := make([]ranked, len(list))
	for i := range list {
		bucket := uint64(most-list[i].utility) >> shift
		out[ends[bucket]] = list[i]
		ends[bucket]++
	}
	for first, bucket := 0, 0; bucket < len(ends); bucket++ {
		end := int(ends[bucket])
		switch size := end - first; {
		case size > few:
			slices.SortFunc(out[first:end], compareRanked)
		case size > 1:
			insert(out[first:end])
		}
		first = end
	}
	return out
}

// insert sorts a short list.
func insert(list []ranked) {
	for i := 1; i < len(list); i++ {
		for at := i; at > 0 && list[at].precedes(list[at-1]); at-- {
			list[at], list[at-1] = list[at-1], list[at]
		}
	}
}

// below returns the first rank whose utility is less than u.
func (s *sorted) below(u fixed.Number) int {
	low, high := 0, len(s.list)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if s.list[middle].utility < u {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// upTo returns the first rank whose utility is not more than u.
func (s *sorted) upTo(u fixed.Number) int { return s.below(min(u, fixed.Max-1) + 1) }

func (s *sorted) Best() Outcome { return s.list[0].outcome }

func (s *sorted) Worst() Outcome { return s.AtLeast(s.list[len(s.list)-1].utility) }

func (s *sorted) AtLeast(target fixed.Number) Outcome {
	rank := s.below(target)
	switch {
	case rank == 0:
		return NoOutcome
	case rank == 1 || s.list[rank-2].utility != s.list[rank-1].utility:
		return s.list[rank-1].outcome // the only one with its utility
	}
	return s.list[s.upTo(s.list[rank-1].utility)].outcome
}

func (s *sorted) AtMost(target fixed.Number) Outcome {
	if rank := s.upTo(target); rank < len(s.list) {
		return s.list[rank].outcome
	}
	return NoOutcome
}

func (s *sorted) Within(low, high fixed.Number, random *Random) Outcome {
	first, end := s.upTo(high), s.below(low)
	if first >= end {
		return NoOutcome
	}
	return s.list[first+int(random.Below(uint64(end-first)))].outcome
}

func (s *sorted) Exact() bool { return s.exact }

func (s *sorted) bounds() (least, most fixed.Number) {
	return s.list[len(s.list)-1].utility, s.list[0].utility
}

func (s *sorted) Descend() Cursor { return &listCursor{list: s.list} }

func (s *sorted) Ascend() Cursor { return &risingCursor{sorted: s, end: len(s.list)} }

// listCursor iterates over a list.
type listCursor struct {
	list []ranked
	next int
}

func (c *listCursor) Next() Outcome {
	if c.next >= len(c.list) {
		return NoOutcome
	}
	c.next++
	return c.list[c.next-1].outcome
}

// risingCursor iterates over groups of equal utility from the last one on, and in a group forwards.
type risingCursor struct {
	sorted           *sorted
	first, next, end int
}

func (c *risingCursor) Next() Outcome {
	if c.next == 0 || c.next >= c.end {
		if c.next != 0 {
			c.end = c.first
		}
		if c.end == 0 {
			return NoOutcome
		}
		c.first = c.sorted.upTo(c.sorted.list[c.end-1].utility)
		c.next = c.first
	}
	c.next++
	return c.sorted.list[c.next-1].outcome
}
