package bargain

import (
	"cmp"
	"container/heap"
	"math/bits"
	"slices"
	"sync"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// pairs is the inverse of an additive utility over two lists of combinations: for every left element that can
// contain the outcome, it searches the right list. If there are more issues than the lists can hold, the
// remaining issues follow the target in proportion, and the inverse is not exact.
type pairs struct {
	left, right half
	others      []half
	least, most fixed.Number
	worst, best Outcome
	utility     Additive
	// order is the inverse for sorting and for random outcomes, built on first use. If nil, pairs itself is
	// used.
	order func() Inverse
}

// maxRight and maxLeft bound the numbers of combinations in the two lists of pairs.
const maxRight, maxLeft = 1 << 18, 1 << 16

// newLarge returns the inverse by pairs, or nil if an issue with no known order contains too many values.
//
// The outcome for a target does not depend on the division of the issues, so two lists of about equal length
// find it if possible. The order at equal utility and the random outcomes do depend on the division: if all
// outcomes can be sorted, sorting determines both, otherwise the longest right list.
func newLarge(domain *Domain, utility Additive) Inverse {
	long, ok := divide(domain, utility, maxRight, maxLeft)
	if !ok {
		return nil
	}
	isSmall := domain.Size() <= MaxSorted
	order := func() Inverse {
		if isSmall {
			return newSorted(domain, utility)
		}
		return newPairs(domain, utility, long)
	}
	even, _ := divide(domain, utility, 1<<((bits.Len64(domain.Size())+1)/2), maxLeft)
	if len(long.others)+len(even.others) > 0 {
		return order()
	}
	p := newPairs(domain, utility, even)
	if isSmall || len(even.right) != len(long.right) {
		p.order = sync.OnceValue(order)
	}
	return p
}

// division holds the issues in both lists, and the issues that do not fit.
type division struct{ left, right, others []int }

// divide fills first the right list, with the issues counting most values, and then the left. It returns
// false if an issue with no known order contains too many values.
func divide(domain *Domain, utility Additive, mostRight, mostLeft uint64) (d division, ok bool) {
	order := make([]int, domain.Len())
	for at := range order {
		order[at] = at
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(domain.Issue(b).Count, domain.Issue(a).Count)
	})
	leftSize, rightSize := uint64(1), uint64(1)
	for _, at := range order {
		count := domain.Issue(at).Count
		if count > MaxSorted && utility.Direction(at) == 0 {
			return d, false
		}
		switch {
		case len(d.right) == 0:
			d.right, rightSize = append(d.right, at), count
		case count <= mostRight/rightSize: // 0 if the first issue alone is larger
			d.right, rightSize = append(d.right, at), rightSize*count
		case count <= mostLeft/leftSize:
			d.left, leftSize = append(d.left, at), leftSize*count
		default:
			d.others = append(d.others, at)
		}
	}
	return d, true
}

func newPairs(domain *Domain, utility Additive, d division) *pairs {
	p := &pairs{
		left: newHalf(domain, utility, d.left), right: newHalf(domain, utility, d.right), utility: utility,
	}
	for _, at := range d.others {
		p.others = append(p.others, newHalf(domain, utility, []int{at}))
	}
	p.worst, p.best = utility.Extremes()
	p.least, p.most = utility.Of(p.worst), utility.Of(p.best)
	return p
}

func (p *pairs) Exact() bool { return len(p.others) == 0 }

// base returns the remaining issues' combination for a target: every issue at the target's proportion within
// the issue's range, or at the nearest part above or below.
func (p *pairs) base(target fixed.Number, above bool) (base partial) {
	if len(p.others) == 0 {
		return base
	}
	level := fixed.One
	if p.most > p.least {
		level = (target.Clamp(p.least, p.most) - p.least).Div(p.most - p.least)
	}
	for i := range p.others {
		h := &p.others[i]
		low, high := h.at(0).sum, h.at(h.len()-1).sum
		share := low + level.Mul(high-low)
		rank := h.from(share.Clamp(low, high), h.len()/2)
		if !above {
			rank = h.after(share.Clamp(low, high), rank) - 1
		}
		part := h.lowest(rank)
		base.sum += part.sum
		base.offset += part.offset
	}
	return base
}

// AtLeast finds in each row, which is an element of the left list, the first sum from target on. From row to
// row it is further down the right list. AtLeast skips the rows that have no such sum, and those that have
// only higher sums than another row.
func (p *pairs) AtLeast(target fixed.Number) Outcome {
	if target > p.most {
		return NoOutcome
	}
	target = max(target, p.least)
	base := p.base(target, true)
	need := target - base.sum
	found := partial{offset: NoOutcome}
	lowest, highest := p.right.at(0).sum, p.right.at(p.right.len()-1).sum
	at := p.right.len() - 1
	for rank := p.left.from(need-highest, p.left.len()/2); rank < p.left.len(); rank++ {
		left := p.left.at(rank)
		if found.offset != NoOutcome && left.sum+lowest > found.sum {
			break
		}
		at = p.right.from(need-left.sum, at)
		sum := left.sum + p.right.at(at).sum
		if found.offset != NoOutcome && sum > found.sum {
			continue
		}
		offset := left.offset + p.right.lowest(at).offset
		if found.offset == NoOutcome || sum < found.sum || offset < found.offset {
			found = partial{sum, offset}
		}
	}
	if found.offset == NoOutcome {
		return NoOutcome
	}
	return found.offset + base.offset
}

// AtMost visits the rows in the opposite order: it begins with the last row containing a sum up to target.
func (p *pairs) AtMost(target fixed.Number) Outcome {
	if target < p.least {
		return NoOutcome
	}
	target = min(target, p.most)
	base := p.base(target, false)
	need := target - base.sum
	found := partial{offset: NoOutcome}
	lowest, highest := p.right.at(0).sum, p.right.at(p.right.len()-1).sum
	after := uint64(0)
	for rank := p.left.after(need-lowest, p.left.len()/2); rank > 0; rank-- {
		left := p.left.at(rank - 1)
		if found.offset != NoOutcome && left.sum+highest < found.sum {
			break
		}
		after = p.right.after(need-left.sum, after)
		sum := left.sum + p.right.at(after-1).sum
		if found.offset != NoOutcome && sum < found.sum {
			continue
		}
		offset := left.offset + p.right.lowest(after-1).offset
		if found.offset == NoOutcome || sum > found.sum || offset < found.offset {
			found = partial{sum, offset}
		}
	}
	if found.offset == NoOutcome {
		return NoOutcome
	}
	return found.offset + base.offset
}

func (p *pairs) Within(low, high fixed.Number, random *Random) Outcome {
	if p.order != nil {
		return p.order().Within(low, high, random)
	}
	low, high = max(low, p.least), min(high, p.most)
	if low > high {
		return NoOutcome
	}
	var base partial
	if len(p.others) > 0 {
		base = p.base(low+fixed.Number(random.Below(uint64(high-low)+1)), true)
	}
	total := uint64(0)
	for rank := range p.left.len() {
		first, end := p.between(rank, low-base.sum, high-base.sum)
		total += end - first
	}
	if total == 0 {
		return NoOutcome
	}
	pick := random.Below(total)
	for rank := range p.left.len() {
		first, end := p.between(rank, low-base.sum, high-base.sum)
		if pick < end-first {
			return p.left.at(rank).offset + p.right.at(first+pick).offset + base.offset
		}
		pick -= end - first
	}
	return NoOutcome
}

// between returns the ranks of the right list that form a sum from low to high with an element of the left.
func (p *pairs) between(rank uint64, low, high fixed.Number) (first, end uint64) {
	left := p.left.at(rank).sum
	first = p.right.from(low-left, p.right.len()/2)
	return first, p.right.after(high-left, first)
}

func (p *pairs) Descend() Cursor { return p.cursor(false) }

func (p *pairs) Ascend() Cursor { return p.cursor(true) }

func (p *pairs) cursor(rising bool) Cursor {
	switch {
	case p.order != nil && rising:
		return p.order().Ascend()
	case p.order != nil:
		return p.order().Descend()
	case !p.Exact():
		return &stepCursor{pairs: p, rising: rising}
	}
	c := &pairCursor{pairs: p, rising: rising}
	c.push(0, 0)
	return c
}

// pairCursor merges the rows of the sum matrix: a row is a left list element. A row enters the heap when the
// previous row's first element leaves. The order of equal sums is fixed.
type pairCursor struct {
	pairs  *pairs
	rising bool
	queue  []queued
}

type queued struct {
	partial
	row, column uint64
}

// push adds the sum of two elements, counted from the cursor's end of the lists.
func (c *pairCursor) push(row, column uint64) {
	left, right := &c.pairs.left, &c.pairs.right
	if row >= left.len() || column >= right.len() {
		return
	}
	i, j := row, column
	if !c.rising {
		i, j = left.len()-1-row, right.len()-1-column
	}
	a, b := left.at(i), right.at(j)
	heap.Push(c, queued{partial{a.sum + b.sum, a.offset + b.offset}, row, column})
}

func (c *pairCursor) Next() Outcome {
	if len(c.queue) == 0 {
		return NoOutcome
	}
	next, _ := heap.Pop(c).(queued)
	c.push(next.row, next.column+1)
	if next.column == 0 {
		c.push(next.row+1, 0)
	}
	return next.offset
}

// Len, Less, Swap, Push and Pop are for package heap.
func (c *pairCursor) Len() int { return len(c.queue) }

func (c *pairCursor) Less(i, j int) bool {
	a, b := c.queue[i], c.queue[j]
	if a.sum != b.sum {
		return (a.sum < b.sum) == c.rising
	}
	return a.offset < b.offset
}

func (c *pairCursor) Swap(i, j int) { c.queue[i], c.queue[j] = c.queue[j], c.queue[i] }

func (c *pairCursor) Push(x any) {
	q, _ := x.(queued)
	c.queue = append(c.queue, q)
}

func (c *pairCursor) Pop() any {
	last := c.queue[len(c.queue)-1]
	c.queue = c.queue[:len(c.queue)-1]
	return last
}

// stepCursor returns an outcome per utility found by an inexact inverse.
type stepCursor struct {
	pairs   *pairs
	rising  bool
	started bool
	last    fixed.Number
}

func (c *stepCursor) Next() Outcome {
	next := c.pairs.best
	switch {
	case !c.started && c.rising:
		next = c.pairs.worst
	case !c.started:
	case c.rising:
		next = c.pairs.AtLeast(c.last + 1)
	default:
		next = c.pairs.AtMost(c.last - 1)
	}
	if next != NoOutcome {
		c.started, c.last = true, c.pairs.utility.Of(next)
	}
	return next
}

// partial is a combination of some issues' values: the sum of the utility parts, and the share of the
// outcome's number.
type partial struct {
	sum    fixed.Number
	offset Outcome
}

// half is a list in pairs: partial combinations sorted by rising sum. It is stored, or computed from a single
// monotone issue of any size.
type half struct {
	// keys holds the sums as unsigned numbers in the same order.
	keys    []uint64
	offsets []Outcome
	// issue is set if the lists are nil.
	issue *monotone
}

// signBit changes a signed number to an unsigned one in the same order, and back.
const signBit = 1 << 63

// monotone is an issue with a utility part that never falls or never rises with the index.
type monotone struct {
	utility       Additive
	at            int
	count, stride uint64
	falling       bool
}

func (h *half) len() uint64 {
	if h.issue == nil {
		return uint64(len(h.keys))
	}
	return h.issue.count
}

func (h *half) at(rank uint64) partial {
	if h.issue == nil {
		return partial{fixed.Number(h.keys[rank] ^ signBit), h.offsets[rank]}
	}
	return h.issue.of(rank)
}

func (m *monotone) of(rank uint64) partial {
	if m.falling {
		rank = m.count - 1 - rank
	}
	return partial{m.utility.Part(m.at, rank), Outcome(rank * m.stride)}
}

// from returns the first rank with a sum >= s. The closer near is to this rank, the fewer steps it needs.
func (h *half) from(s fixed.Number, near uint64) uint64 {
	if h.issue == nil {
		return uint64(firstFrom(h.keys, uint64(s)^signBit, int(near)))
	}
	return searchNear(h.len(), near, func(rank uint64) bool { return h.at(rank).sum >= s })
}

// after returns the first rank with a sum > s. The search starts at near.
func (h *half) after(s fixed.Number, near uint64) uint64 { return h.from(s+1, near) }

// lowest returns the combination with the lowest offset among all combinations with the rank's sum.
func (h *half) lowest(rank uint64) partial {
	if h.issue != nil && h.issue.falling {
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
	size := uint64(1)
	for _, at := range issues {
		size *= domain.Issue(at).Count
	}
	sums, h := make([]fixed.Number, size), half{keys: make([]uint64, size), offsets: make([]Outcome, size)}
	done := uint64(1)
	for _, at := range issues {
		count := domain.Issue(at).Count
		for index := count - 1; index < count; index-- { // downwards: block 0 replaces the earlier sums
			part, offset := utility.Part(at, index), Outcome(index*domain.strides[at])
			for i := range done {
				sums[index*done+i], h.offsets[index*done+i] = sums[i]-part, h.offsets[i]+offset
			}
		}
		done *= count
	}
	for rank, r := range spread(sums, h.offsets) { // by falling numbers, so the sums are negative
		h.keys[rank], h.offsets[rank] = uint64(-r.utility)^signBit, r.outcome
	}
	return h
}
