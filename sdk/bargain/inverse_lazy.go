package bargain

import (
	"sync"
	"sync/atomic"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// lazy are preferences with an additive utility as their own inverse. It makes what a query needs, and keeps it.
// The best and the worst outcome need nothing, a target needs two lists of combinations, and a cursor needs the
// best outcomes in their order, which are the start of the order of all. When the queries in the lists have cost
// as much as a start of twice the length, it sorts that one, up to all outcomes. So it never costs much more than
// twice the cheaper one of the two ways, and long tournaments have the faster queries. The answers are always
// the same.
type lazy Preferences

// lazyMemory is what a lazy inverse keeps.
type lazyMemory struct {
	lists atomic.Pointer[lists]
	// start is the start of the order, with all outcomes that have the utility of its last one.
	start   atomic.Pointer[sorted]
	growing sync.Mutex
	// spent is the cost of the queries in the lists so far. Visiting a row of the lists costs 1, an outcome of
	// a new start about 8, its memory included.
	spent atomic.Int64
}

const (
	// leastStart is the length of the first start of the order. Each further one is at least twice as long.
	leastStart = 8
	// costOfStart is the cost of an outcome of a new start.
	costOfStart = 8
)

// isLazy reports whether lazy is the inverse for a utility with these bounds.
func isLazy(domain *Domain, utility Utility, least, most fixed.Number) bool {
	_, ok := utility.(Additive)
	return ok && domain.Len() > 1 && domain.Size() <= maxSorted && hasKeys(domain.Size(), least, most)
}

func (l *lazy) additive() Additive {
	additive, _ := l.utility.(Additive)
	return additive
}

// balanced returns the lists of combinations.
func (l *lazy) balanced() *lists {
	known := l.lists.Load()
	if known == nil {
		known = newLists(l.domain, l.additive())
		l.lists.Store(known) // those that another goroutine makes meanwhile are equal
	}
	return known
}

// grown returns a start of the order with at least count outcomes.
func (l *lazy) grown(count uint64) *sorted {
	l.growing.Lock()
	defer l.growing.Unlock()
	start := l.start.Load()
	switch {
	case start != nil && uint64(len(start.list)) >= min(count, l.domain.Size()):
		return start
	case 2*count < l.domain.Size():
		start = &sorted{list: l.balanced().highest(int(count), l.least), exact: true}
	default:
		start = newSorted(l.domain, l.utility)
	}
	l.start.Store(start)
	return start
}

// startFor returns a start of the order that has a target within the bounds; nil if the lists answer the query.
func (l *lazy) startFor(target fixed.Number) *sorted {
	start, next := l.start.Load(), int64(leastStart)
	if start != nil {
		if start.has(target) {
			return start
		}
		next = 2 * int64(len(start.list))
	}
	if spent := l.spent.Add(int64(l.balanced().rows)); spent >= costOfStart*next {
		if start = l.grown(uint64(spent / costOfStart)); start.has(target) {
			return start
		}
	}
	return nil
}

func (l *lazy) AtLeast(target fixed.Number) Outcome {
	switch {
	case target > l.most:
		return NoOutcome
	case target <= l.least:
		worst, _ := l.additive().Extremes()
		return worst
	}
	if start := l.startFor(target); start != nil {
		return start.AtLeast(target)
	}
	return l.balanced().atLeast(uint64(target - l.least))
}

func (l *lazy) AtMost(target fixed.Number) Outcome {
	switch {
	case target < l.least:
		return NoOutcome
	case target >= l.most:
		_, best := l.additive().Extremes()
		return best
	}
	if start := l.startFor(target); start != nil {
		return start.AtMost(target)
	}
	return l.balanced().atMost(uint64(target - l.least))
}

func (*lazy) Exact() bool { return true }

func (l *lazy) Within(low, high fixed.Number, random *Random) Outcome {
	return l.grown(l.domain.Size()).Within(low, high, random)
}

func (l *lazy) Descend() Cursor { return &lazyCursor{lazy: l} }

func (l *lazy) Ascend() Cursor { return l.grown(l.domain.Size()).Ascend() }

// from returns the start of the order, longer than length unless that is all.
func (l *lazy) from(length int) []ranked {
	if start := l.start.Load(); start != nil && len(start.list) > length {
		return start.list
	}
	return l.grown(max(leastStart, 2*uint64(length))).list
}

// lazyCursor iterates over the order, of which it knows the start.
type lazyCursor struct {
	lazy  *lazy
	known []ranked
	next  int
}

func (c *lazyCursor) Next() Outcome {
	if c.next == len(c.known) {
		if c.known = c.lazy.from(c.next); c.next == len(c.known) {
			return NoOutcome
		}
	}
	c.next++
	return c.known[c.next-1].outcome
}
