package bargain

import (
	"cmp"
	"slices"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// sorted is the inverse by a list of outcomes in the order of falling utility, equal ones by their number.
type sorted struct {
	utilities []fixed.Number
	outcomes  []Outcome
	exact     bool
}

func newSorted(domain *Domain, utility Utility) *sorted {
	outcomes := make([]Outcome, domain.Size())
	for i := range outcomes {
		outcomes[i] = Outcome(i)
	}
	return sortOutcomes(outcomes, utility, true)
}

// ranked is an outcome with its utility.
type ranked struct {
	utility fixed.Number
	outcome Outcome
}

func sortOutcomes(outcomes []Outcome, utility Utility, exact bool) *sorted {
	list := make([]ranked, len(outcomes))
	for i, o := range outcomes {
		list[i] = ranked{utility.Of(o), o}
	}
	slices.SortFunc(list, func(a, b ranked) int {
		if a.utility != b.utility {
			return cmp.Compare(b.utility, a.utility)
		}
		return cmp.Compare(a.outcome, b.outcome)
	})
	s := &sorted{utilities: make([]fixed.Number, len(list)), outcomes: outcomes, exact: exact}
	for i, r := range list {
		s.utilities[i], s.outcomes[i] = r.utility, r.outcome
	}
	return s
}

// below returns the first rank whose utility is less than u.
func (s *sorted) below(u fixed.Number) int {
	low, high := 0, len(s.utilities)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if s.utilities[middle] < u {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// upTo returns the first rank whose utility is not more than u.
func (s *sorted) upTo(u fixed.Number) int {
	low, high := 0, len(s.utilities)
	for low < high {
		middle := int(uint(low+high) >> 1)
		if s.utilities[middle] <= u {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

func (s *sorted) Best() Outcome { return s.outcomes[0] }

func (s *sorted) Worst() Outcome { return s.AtLeast(s.utilities[len(s.utilities)-1]) }

func (s *sorted) AtLeast(target fixed.Number) Outcome {
	rank := s.below(target)
	if rank == 0 {
		return NoOutcome
	}
	return s.outcomes[s.upTo(s.utilities[rank-1])]
}

func (s *sorted) AtMost(target fixed.Number) Outcome {
	if rank := s.upTo(target); rank < len(s.outcomes) {
		return s.outcomes[rank]
	}
	return NoOutcome
}

func (s *sorted) Within(low, high fixed.Number, random *Random) Outcome {
	first, end := s.upTo(high), s.below(low)
	if first >= end {
		return NoOutcome
	}
	return s.outcomes[first+int(random.Below(uint64(end-first)))]
}

func (s *sorted) Exact() bool { return s.exact }

func (s *sorted) Descend() Cursor { return &listCursor{list: s.outcomes} }

func (s *sorted) Ascend() Cursor { return &risingCursor{sorted: s, end: len(s.outcomes)} }

// listCursor iterates over a list.
type listCursor struct {
	list []Outcome
	next int
}

func (c *listCursor) Next() Outcome {
	if c.next >= len(c.list) {
		return NoOutcome
	}
	c.next++
	return c.list[c.next-1]
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
		c.first = c.sorted.upTo(c.sorted.utilities[c.end-1])
		c.next = c.first
	}
	c.next++
	return c.sorted.outcomes[c.next-1]
}
