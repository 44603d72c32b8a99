package bargain

import (
	"sync"
	"sync/atomic"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// Inverse finds outcomes by utility. Results do not change, and several goroutines can use an Inverse.
type Inverse interface {
	// AtLeast returns the outcome with the lowest utility from target on, or [NoOutcome].
	AtLeast(target fixed.Number) Outcome
	// AtMost returns the outcome with the highest utility up to target, or [NoOutcome].
	AtMost(target fixed.Number) Outcome
	// Within returns a random outcome with a utility from low to high, all with the same probability, or
	// [NoOutcome].
	Within(low, high fixed.Number, random *Random) Outcome
	// Descend returns the outcomes by falling utility, Ascend by rising utility.
	Descend() Cursor
	Ascend() Cursor
	// Exact reports whether no outcome is missing. If false, the outcomes are a sample.
	Exact() bool
}

// Cursor iterates over outcomes. It belongs to a single goroutine.
type Cursor interface {
	// Next advances and returns an outcome, or [NoOutcome] at the end.
	Next() Outcome
}

// MaxSorted is the maximum number of outcomes that an inverse sorts. It samples larger domains, unless the
// utility is [Additive].
const MaxSorted = 1 << 20

// newInverse returns the inverse for a domain and a utility if isLazy is false: see the package comment.
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

// lazy is the inverse of preferences with a [Bounded] utility: the same object under a different type.
// Queries build the required parts, and lazy keeps the parts. The best and the worst outcome need no parts. A
// target needs an index: two lists of combinations for additive utilities, chains for all others. Descend
// needs the start of the list sorted by falling utility, Within and Ascend the whole list. When index queries
// have cost as much as building a start twice as long, lazy builds this start, or sorts all outcomes. So the
// cost never much exceeds twice the cost of the cheaper way: only searching the index, or sorting at once.
// Results do not depend on the existing parts.
type lazy Preferences

// index finds outcomes for a lazy inverse, and counts the cost of targets in lazyMemory.spent. Distances are
// measured from the lowest utility, up to the whole range.
type index interface {
	// atLeast returns the lowest outcome at or above a distance, atMost the highest outcome at or below the
	// distance.
	atLeast(distance uint64) Outcome
	atMost(distance uint64) Outcome
	// highest returns the best outcomes by falling utility, equal utilities by number: count outcomes or
	// more, including all outcomes with the last outcome's utility. count must lie between 1 and the number
	// of outcomes. least is the lowest utility of all.
	highest(count int, least fixed.Number) []ranked
}

// lazyMemory is what a lazy inverse keeps.
type lazyMemory struct {
	lists  atomic.Pointer[lists]
	chains atomic.Pointer[chains]
	// start is the start of the sorted list, including all outcomes with the last outcome's utility.
	start atomic.Pointer[sorted]
	// growing is locked while a new start is made.
	growing sync.Mutex
	// spent is the estimated cost of the queries in the index so far, in visited rows or outcomes.
	spent atomic.Int64
}

const (
	// leastStart is the initial start's length. Every further start is twice as long or longer.
	leastStart = 8
	// costOfOutcome is the cost per outcome in a new start, in visited rows, including memory.
	costOfOutcome = 8
)

// isLazy reports whether lazy is the inverse for a bounded utility with the given bounds.
func isLazy(domain *Domain, utility Utility, least, most fixed.Number) bool {
	if domain.Size() > MaxSorted {
		return false
	}
	additive, ok := utility.(Additive)
	switch {
	case !ok:
		return true
	case domain.Len() == 1:
		return additive.Direction(0) == 0
	}
	return hasKeys(domain.Size(), least, most)
}

// index returns the lists or the chains, built by the first call. If several goroutines build them at once,
// the results are equal.
func (l *lazy) index() index {
	if lists := l.lists.Load(); lists != nil {
		return lists
	}
	if chains := l.chains.Load(); chains != nil {
		return chains
	}
	if additive, ok := l.utility.(Additive); ok && l.domain.Len() > 1 {
		lists := newLists(l.domain, additive, &l.spent)
		l.lists.Store(lists)
		return lists
	}
	chains := newChains(l.domain, l.bounded(), &l.spent)
	l.chains.Store(chains)
	return chains
}

func (l *lazy) bounded() Bounded {
	bounded, _ := l.utility.(Bounded)
	return bounded
}

// grown returns a start with count outcomes or more, or with all outcomes.
func (l *lazy) grown(count uint64) *sorted {
	l.growing.Lock()
	defer l.growing.Unlock()
	start := l.start.Load()
	switch {
	case start != nil && uint64(len(start.list)) >= min(count, l.domain.Size()):
		return start
	case 2*count < l.domain.Size():
		start = &sorted{list: l.index().highest(int(count), l.least), exact: true}
	default:
		start = newSorted(l.domain, l.utility)
	}
	l.start.Store(start)
	return start
}

// startFor returns a start of the order that reaches down to a target, or nil if the index answers the query.
func (l *lazy) startFor(target fixed.Number) *sorted {
	start, next := l.start.Load(), int64(leastStart)
	if start != nil {
		if start.has(target) {
			return start
		}
		next = 2 * int64(len(start.list))
	}
	if spent := l.spent.Load(); spent >= costOfOutcome*next {
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
		worst, _ := l.bounded().Extremes()
		return worst
	}
	if start := l.startFor(target); start != nil {
		return start.AtLeast(target)
	}
	return l.index().atLeast(uint64(target - l.least))
}

func (l *lazy) AtMost(target fixed.Number) Outcome {
	switch {
	case target < l.least:
		return NoOutcome
	case target >= l.most:
		_, best := l.bounded().Extremes()
		return best
	}
	if start := l.startFor(target); start != nil {
		return start.AtMost(target)
	}
	return l.index().atMost(uint64(target - l.least))
}

func (*lazy) Exact() bool { return true }

func (l *lazy) Within(low, high fixed.Number, random *Random) Outcome {
	return l.grown(l.domain.Size()).Within(low, high, random)
}

func (l *lazy) Descend() Cursor { return &lazyCursor{lazy: l} }

func (l *lazy) Ascend() Cursor { return l.grown(l.domain.Size()).Ascend() }

// longerThan returns a start with more than length outcomes, or with all outcomes.
func (l *lazy) longerThan(length int) []ranked {
	if start := l.start.Load(); start != nil && len(start.list) > length {
		return start.list
	}
	return l.grown(max(leastStart, 2*uint64(length))).list
}

// lazyCursor iterates over the sorted list; it holds the start.
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

// Closest returns the outcome with the utility closest to target. Of two equally close outcomes it returns
// the better.
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

// search returns the smallest number below n where is returns true, or n: is must be false up to some number
// and true from then on.
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
