package bargain

import (
	"sync"
	"sync/atomic"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// lazy is the inverse of an additive utility over several issues. It makes what a query needs, and keeps it:
// for the best and the worst outcome nothing, for a target two lists of combinations, for a cursor the start
// of the order. When the queries together have cost as much as sorting all outcomes, it sorts them. So it
// never costs much more than twice the cheaper one of the two ways, and long tournaments have the faster
// queries. The answers are the same in all states.
type lazy struct {
	// pairs has its lists after the first call of balanced.
	pairs
	domain *Domain

	makeLists, makeAll sync.Once
	all                atomic.Pointer[sorted]
	// start is the start of the order, if a cursor has asked for more than the first outcome.
	start atomic.Pointer[[]ranked]
	// cost is that of the queries so far. Visiting a row of the lists costs 1, sorting an outcome about 2.
	cost  atomic.Uint64
	limit uint64
}

func newLazy(domain *Domain, utility Additive) *lazy {
	l := &lazy{domain: domain, limit: 2 * domain.Size()}
	l.bound(utility)
	return l
}

// balanced returns the lists of combinations.
func (l *lazy) balanced() *pairs {
	l.makeLists.Do(func() { l.balance(l.domain) })
	return &l.pairs
}

// sorted returns all outcomes in their order.
func (l *lazy) sorted() *sorted {
	l.makeAll.Do(func() { l.all.Store(newSorted(l.domain, l.utility)) })
	return l.all.Load()
}

// forTarget returns the inverse for a query with a target within the bounds.
func (l *lazy) forTarget() Inverse {
	if all := l.all.Load(); all != nil {
		return all
	}
	lists := l.balanced()
	if l.cost.Add(lists.rows) >= l.limit {
		return l.sorted()
	}
	return lists
}

func (l *lazy) AtLeast(target fixed.Number) Outcome {
	switch {
	case target > l.most:
		return NoOutcome
	case target <= l.least:
		return l.worst
	}
	return l.forTarget().AtLeast(target)
}

func (l *lazy) AtMost(target fixed.Number) Outcome {
	switch {
	case target < l.least:
		return NoOutcome
	case target >= l.most:
		return l.best
	}
	return l.forTarget().AtMost(target)
}

func (l *lazy) Within(low, high fixed.Number, random *Random) Outcome {
	return l.sorted().Within(low, high, random)
}

func (l *lazy) Descend() Cursor { return &lazyCursor{lazy: l} }

func (l *lazy) Ascend() Cursor { return l.sorted().Ascend() }

// leastStart is the length of the first start of the order. Each further one is twice as long.
const leastStart = 8

// from returns the start of the order, longer than length unless that is all.
func (l *lazy) from(length int) []ranked {
	if all := l.all.Load(); all != nil {
		return all.list
	}
	if start := l.start.Load(); start != nil && len(*start) > length {
		return *start
	}
	count := min(max(leastStart, 2*uint64(length)), l.domain.Size())
	if l.cost.Add(2*count) >= l.limit {
		return l.sorted().list
	}
	start := l.balanced().highest(int(count))
	l.start.Store(&start)
	return start
}

// lazyCursor iterates over the order, of which it knows the start.
type lazyCursor struct {
	lazy  *lazy
	known []ranked
	next  int
}

func (c *lazyCursor) Next() Outcome {
	switch {
	case c.next == 0:
		c.next = 1
		return c.lazy.best
	case c.next >= len(c.known):
		if c.known = c.lazy.from(c.next); c.next == len(c.known) {
			return NoOutcome
		}
	}
	c.next++
	return c.known[c.next-1].outcome
}
