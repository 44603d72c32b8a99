package bargain

import (
	"math/bits"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// line is the inverse of a utility that never falls, or never rises, with the outcome's number. It needs no
// memory: queries search from the outcome's position on a straight line.
type line struct {
	size    uint64
	utility Utility
	rising  bool
	// least and most limit the utility.
	least, most fixed.Number
}

func newLine(size uint64, utility Utility, rising bool) *line {
	l := &line{size: size, utility: utility, rising: rising}
	l.least, l.most = utility.Of(0), utility.Of(Outcome(size-1))
	if !rising {
		l.least, l.most = l.most, l.least
	}
	return l
}

// guess returns the outcome number for a utility, assuming a straight line.
func (l *line) guess(u fixed.Number) uint64 {
	var at uint64
	switch {
	case u >= l.most:
		at = l.size - 1
	case u > l.least:
		high, low := bits.Mul64(uint64(u-l.least), l.size-1)
		at, _ = bits.Div64(high, low, uint64(l.most-l.least))
	}
	if !l.rising {
		return l.size - 1 - at
	}
	return at
}

// above returns the first number with a utility >= u on a rising line, and the first with a utility < u on a
// falling line. The search starts at near.
func (l *line) above(u fixed.Number, near uint64) uint64 {
	return searchNear(l.size, near, func(n uint64) bool { return (l.utility.Of(Outcome(n)) >= u) == l.rising })
}

// beyond returns the first number with a utility > u on a rising line, and the first with a utility <= u on a
// falling line. The search starts at near.
func (l *line) beyond(u fixed.Number, near uint64) uint64 {
	return searchNear(l.size, near, func(n uint64) bool { return (l.utility.Of(Outcome(n)) > u) == l.rising })
}

// first returns the lowest outcome with o's utility: usually o itself.
func (l *line) first(o Outcome) Outcome {
	u := l.utility.Of(o)
	switch {
	case o == 0 || l.utility.Of(o-1) != u:
		return o
	case l.rising:
		return Outcome(l.above(u, uint64(o)))
	}
	return Outcome(l.beyond(u, uint64(o)))
}

func (l *line) AtLeast(target fixed.Number) Outcome {
	at := l.above(target, l.guess(target))
	switch {
	case l.rising && at < l.size:
		return Outcome(at)
	case !l.rising && at > 0:
		return l.first(Outcome(at - 1))
	}
	return NoOutcome
}

func (l *line) AtMost(target fixed.Number) Outcome {
	at := l.beyond(target, l.guess(target))
	switch {
	case l.rising && at > 0:
		return l.first(Outcome(at - 1))
	case !l.rising && at < l.size:
		return Outcome(at)
	}
	return NoOutcome
}

func (l *line) Within(low, high fixed.Number, random *Random) Outcome {
	first, end := l.above(low, l.guess(low)), l.beyond(high, l.guess(high))
	if !l.rising {
		first, end = end, first
	}
	if first >= end {
		return NoOutcome
	}
	return Outcome(first + random.Below(end-first))
}

func (l *line) Exact() bool { return true }

func (l *line) Descend() Cursor { return l.cursor(!l.rising) }

func (l *line) Ascend() Cursor { return l.cursor(l.rising) }

func (l *line) cursor(up bool) Cursor {
	if up {
		return &lineCursor{line: l, end: l.size}
	}
	return &lineCursor{line: l, from: l.size}
}

// lineCursor iterates upwards from next to end: over the whole line, or over groups of equal utility, the
// last group first. from is the first number in the groups begun so far.
type lineCursor struct {
	line            *line
	next, end, from uint64
}

func (c *lineCursor) Next() Outcome {
	if c.next >= c.end {
		if c.from == 0 {
			return NoOutcome
		}
		first := uint64(c.line.first(Outcome(c.from - 1)))
		c.next, c.end, c.from = first, c.from, first
	}
	c.next++
	return Outcome(c.next - 1)
}
