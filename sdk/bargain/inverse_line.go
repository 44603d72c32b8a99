package bargain

import "github.com/haggle-protocol/haggle/sdk/bargain/fixed"

// line is the inverse of a utility that never falls, or never rises, with the outcome's number. It needs no
// memory: each query is a binary search.
type line struct {
	size    uint64
	utility Utility
	rising  bool
}

func newLine(size uint64, utility Utility, rising bool) *line {
	return &line{size: size, utility: utility, rising: rising}
}

// above returns the first number of a rising line whose utility is at least u, and of a falling line the
// first whose utility is less than u.
func (l *line) above(u fixed.Number) uint64 {
	return search(l.size, func(n uint64) bool { return (l.utility.Of(Outcome(n)) >= u) == l.rising })
}

// beyond returns the first number of a rising line whose utility is more than u, and of a falling line the
// first whose utility is at most u.
func (l *line) beyond(u fixed.Number) uint64 {
	return search(l.size, func(n uint64) bool { return (l.utility.Of(Outcome(n)) > u) == l.rising })
}

// group returns the first number and the number after the last one with the utility of an outcome.
func (l *line) group(o Outcome) (first, end uint64) {
	u := l.utility.Of(o)
	if l.rising {
		return l.above(u), l.beyond(u)
	}
	return l.beyond(u), l.above(u)
}

func (l *line) first(o Outcome) Outcome {
	first, _ := l.group(o)
	return Outcome(first)
}

func (l *line) Best() Outcome {
	if l.rising {
		return l.first(Outcome(l.size - 1))
	}
	return 0
}

func (l *line) Worst() Outcome {
	if l.rising {
		return 0
	}
	return l.first(Outcome(l.size - 1))
}

func (l *line) AtLeast(target fixed.Number) Outcome {
	at := l.above(target)
	switch {
	case l.rising && at < l.size:
		return Outcome(at)
	case !l.rising && at > 0:
		return l.first(Outcome(at - 1))
	}
	return NoOutcome
}

func (l *line) AtMost(target fixed.Number) Outcome {
	at := l.beyond(target)
	switch {
	case l.rising && at > 0:
		return l.first(Outcome(at - 1))
	case !l.rising && at < l.size:
		return Outcome(at)
	}
	return NoOutcome
}

func (l *line) Within(low, high fixed.Number, random *Random) Outcome {
	first, end := l.above(low), l.beyond(high)
	if !l.rising {
		first, end = end, first
	}
	if first >= end {
		return NoOutcome
	}
	return Outcome(first + random.Below(end-first))
}

func (l *line) Exact() bool { return true }

func (l *line) Descend() Cursor { return &lineCursor{line: l, up: !l.rising, from: l.start(!l.rising)} }

func (l *line) Ascend() Cursor { return &lineCursor{line: l, up: l.rising, from: l.start(l.rising)} }

// start returns where a cursor begins: the border of the first group.
func (l *line) start(up bool) uint64 {
	if up {
		return 0
	}
	return l.size
}

// lineCursor iterates over groups of equal utility upwards or downwards, and in a group upwards.
type lineCursor struct {
	line      *line
	up        bool
	from      uint64
	next, end uint64
}

func (c *lineCursor) Next() Outcome {
	if c.next >= c.end {
		if c.up && c.from >= c.line.size || !c.up && c.from == 0 {
			return NoOutcome
		}
		if c.up {
			c.next, c.end = c.line.group(Outcome(c.from))
			c.from = c.end
		} else {
			c.next, c.end = c.line.group(Outcome(c.from - 1))
			c.from = c.next
		}
	}
	c.next++
	return Outcome(c.next - 1)
}
