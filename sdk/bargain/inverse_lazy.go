package bargain

import (
	"sync"
	"sync/atomic"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// lazy is the inverse of preferences with an additive utility: the same object as another type. Each query
// makes the parts that it needs, and lazy keeps them. The best and the worst outcome need none. A target
// needs the two lists of combinations. Descend needs the start of the order of falling utility, Within and
// Ascend the whole order. When the queries in the lists have cost as much as a start of twice the present
// length, lazy makes that start, or sorts all outcomes. So the cost is never much more than twice that of the
// cheaper way: to search the lists only, or to sort at once. The answers do not depend on the parts that
// exist.
type lazy Preferences

// lazyMemory is what a lazy inverse keeps.
type lazyMemory struct {
	lists atomic.Pointer[lists]
	// start is the start of the order, with all outcomes that have the utility of its last one.
	start atomic.Pointer[sorted]
	// growing is locked while a new start is made.
	growing sync.Mutex
	// spent is the estimated cost of the queries in the lists so far, in visited rows.
	spent atomic.Int64
}

const (
	// leastStart is the length of the first start of the order. Each further one is at least twice as long.
	leastStart = 8
	// costOfOutcome is the cost of an outcome of a new start, in visited rows, with its memory.
	costOfOutcome = 8
)

// isLazy reports whether lazy is the inverse for a utility with these bounds.
func isLazy(domain *Domain, utility Utility, least, most fixed.Number) bool {
	_, ok := utility.(Additive)
	return ok && domain.Len() > 1 && domain.Size() <= MaxSorted && hasKeys(domain.Size(), least, most)
}

func (l *lazy) additive() Additive {
	additive, _ := l.utility.(Additive)
	return additive
}

// combinations returns the lists, which the first call makes.
func (l *lazy) combinations() *lists {
	known := l.lists.Load()
	if known == nil {
		known = newLists(l.domain, l.additive())
		l.lists.Store(known) // those that another goroutine makes meanwhile are equal
	}
	return known
}

// grown returns a start of the order with at least count outcomes, or with all.
func (l *lazy) grown(count uint64) *sorted {
	l.growing.Lock()
	defer l.growing.Unlock()
	start := l.start.Load()
	switch {
	case start != nil && uint64(len(start.list)) >= min(count, l.domain.Size()):
		return start
	case 2*count < l.domain.Size():
		start = &sorted{list: l.combinations().highest(int(count), l.least), exact: true}
	default:
		start = newSorted(l.domain, l.utility)
	}
	l.start.Store(start)
	return start
}

// startFor returns a start of the order that reaches down to a target, or nil if the lists answer the query.
func (l *lazy) startFor(target fixed.Number) *sorted {
	start, next := l.start.Load(), int64(leastStart)
	if start != nil {
		if start.has(target) {
			return start
		}
		next = 2 * int64(len(start.list))
	}
	if spent := l.spent.Add(int64(l.combinations().rows)); spent >= costOfOutcome*next {
		if start = l.grown(uint64(spent / costOfOutcome)); start.has(target) {
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
	return l.combinations().atLeast(uint64(target - l.least))
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
	return l.combinations().atMost(uint64(target - l.least))
}

func (*lazy) Exact() bool { return true }

func (l *lazy) Within(low, high fixed.Number, random *Random) Outcome {
	return l.grown(l.domain.Size()).Within(low, high, random)
}

func (l *lazy) Descend() Cursor { return &lazyCursor{lazy: l} }

func (l *lazy) Ascend() Cursor { return l.grown(l.domain.Size()).Ascend() }

// longerThan returns a start of the order with more than length outcomes, or with all.
func (l *lazy) longerThan(length int) []ranked {
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
		if c.known = c.lazy.longerThan(c.next); c.next == len(c.known) {
			return NoOutcome
		}
	}
	c.next++
	return c.known[c.next-1].outcome
}
