package bargain

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// sorted is the inverse by an outcome list sorted by falling utility, equal utilities by number. The list can
// be limited to the best outcomes: has reports whether it covers a target.
type sorted struct {
	list  []ranked
	exact bool
}

// ranked is an outcome with a utility.
type ranked struct {
	utility fixed.Number
	outcome Outcome
}

func newSorted(domain *Domain, utility Utility) *sorted {
	var memory [small]fixed.Number
	return &sorted{list: spread(utilitiesOf(memory[:0], domain, utility), nil), exact: true}
}

// utilitiesOf returns the utilities of all outcomes. It reuses memory if the capacity suffices. The result
// can be shared and must not be modified.
func utilitiesOf(memory []fixed.Number, domain *Domain, utility Utility) []fixed.Number {
	switch utility := utility.(type) {
	case Listed:
		return utility.Utilities()
	case Additive:
		return sums(memory, domain, utility)
	}
	list := make([]fixed.Number, domain.Size())
	for o := range list {
		list[o] = utility.Of(Outcome(o))
	}
	return list
}

// chains divides the outcomes by utility into buckets of equal width, unordered inside. This costs far less
// than sorting.
type chains struct {
	utilities []fixed.Number
	lowest    fixed.Number
	// An outcome's bucket is the distance from the lowest utility, divided by 2^shift. heads holds, per
	// bucket, the first outcome's number plus 1, next the following outcome's; 0 ends a chain. Numbers rise
	// within a chain.
	shift       uint
	heads, next []uint32
	// spent counts the visited outcomes and buckets of all queries.
	spent *atomic.Int64
}

// perBucket is the average number of outcomes per bucket, up to a factor of 2.
const perBucket = 8

func newChains(domain *Domain, utility Bounded, spent *atomic.Int64) *chains {
	c := &chains{spent: spent}
	if tabled, ok := utility.(Tabled); ok && domain.Len() == 1 {
		c.utilities = tabled.Table(0)
	}
	if c.utilities == nil {
		c.utilities = utilitiesOf(nil, domain, utility)
	}
	worst, best := utility.Extremes()
	c.lowest = c.utilities[worst]
	span := uint64(c.utilities[best] - c.lowest)
	c.shift = uint(max(bits.Len64(span)-bits.Len(uint(len(c.utilities)/perBucket)), 0)) % 64
	c.heads, c.next = make([]uint32, span>>c.shift+1), make([]uint32, len(c.utilities))
	for i := len(c.next) - 1; i >= 0; i-- {
		head := &c.heads[c.distance(i)>>c.shift]
		c.next[i], *head = *head, uint32(i)+1
	}
	return c
}

// distance returns an outcome's distance from the lowest utility.
func (c *chains) distance(i int) uint64 { return uint64(c.utilities[i] - c.lowest) }

// atLeast visits the buckets upwards until it finds a matching outcome.
func (c *chains) atLeast(distance uint64) Outcome {
	found, least, visited := NoOutcome, ^uint64(0), int64(0)
	for bucket := distance >> c.shift; found == NoOutcome && bucket < uint64(len(c.heads)); bucket++ {
		visited++
		for i := c.heads[bucket]; i != 0; i = c.next[i-1] {
			if d := c.distance(int(i - 1)); d >= distance && d < least {
				found, least = Outcome(i-1), d
			}
			visited++
		}
	}
	c.spent.Add(visited)
	return found
}

// atMost visits the buckets downwards.
func (c *chains) atMost(distance uint64) Outcome {
	found, most, visited := NoOutcome, uint64(0), int64(0)
	for bucket := int(distance >> c.shift); found == NoOutcome && bucket >= 0; bucket-- {
		visited++
		for i := c.heads[bucket]; i != 0; i = c.next[i-1] {
			if d := c.distance(int(i - 1)); d <= distance && (d > most || found == NoOutcome) {
				found, most = Outcome(i-1), d
			}
			visited++
		}
	}
	c.spent.Add(visited)
	return found
}

// highest sorts the outcomes of the highest buckets.
func (c *chains) highest(count int, least fixed.Number) []ranked {
	utilities, outcomes := make([]fixed.Number, 0, count+perBucket), make([]Outcome, 0, count+perBucket)
	for bucket := len(c.heads) - 1; len(outcomes) < count; bucket-- {
		for i := c.heads[bucket]; i != 0; i = c.next[i-1] {
			utilities = append(utilities, least+fixed.Number(c.distance(int(i-1))))
			outcomes = append(outcomes, Outcome(i-1))
		}
	}
	return spread(utilities, outcomes)
}

func sortOutcomes(outcomes []Outcome, utility Utility) *sorted {
	utilities := make([]fixed.Number, len(outcomes))
	for i, o := range outcomes {
		utilities[i] = utility.Of(o)
	}
	return &sorted{list: spread(utilities, outcomes)}
}

// sums returns the utilities of all outcomes. It reuses memory if the capacity suffices.
func sums(memory []fixed.Number, domain *Domain, utility Additive) []fixed.Number {
	if domain.Size() > uint64(cap(memory)) {
		memory = make([]fixed.Number, domain.Size())
	}
	list, done := memory[:domain.Size()], uint64(1)
	list[0] = 0
	for at := domain.Len() - 1; at >= 0; at-- {
		count := domain.Issue(at).Count
		for index := count - 1; index < count; index-- { // downwards: row 0 replaces the earlier sums
			part, row := utility.Part(at, index), list[index*done:(index+1)*done]
			for i, sum := range list[:len(row)] {
				row[i] = sum + part
			}
		}
		done *= count
	}
	return list
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

const (
	// few is the maximum number of ranked outcomes where insertion sort is fastest.
	few = 24
	// small is the size of the buffers for utilities and buckets on the stack. Larger sorts allocate.
	small = 256
)

// spread returns the outcomes with the given utilities, sorted; nil outcomes means all outcomes in a domain.
// It distributes the outcomes over about as many buckets of equal width, taking linear time unless most are
// close together.
func spread(utilities []fixed.Number, outcomes []Outcome) []ranked {
	out := make([]ranked, len(utilities))
	if len(out) <= few {
		for i, u := range utilities {
			out[i] = ranked{u, outcomeAt(outcomes, i)}
		}
		insert(out)
		return out
	}
	least, most := utilities[0], utilities[0]
	for _, u := range utilities {
		least, most = min(least, u), max(most, u)
	}
	// The bucket is the distance from the highest utility in parts of 2^shift.
	shift := max(bits.Len64(uint64(most-least))-bits.Len(uint(len(utilities))), 0) & 63
	var memory [small]uint32
	ends := memory[:]
	if last := uint64(most-least) >> shift; last < uint64(len(ends)) {
		ends = ends[:last+1]
	} else {
		ends = make([]uint32, last+1)
	}
	for _, u := range utilities {
		ends[uint64(most-u)>>shift]++
	}
	start, crowded := uint32(0), false
	for bucket, count := range ends {
		ends[bucket] = start
		start += count
		crowded = crowded || count > few
	}
	for i, u := range utilities {
		end := &ends[uint64(most-u)>>shift]
		out[*end] = ranked{u, outcomeAt(outcomes, i)}
		*end++
	}
	for first, bucket := uint32(0), 0; crowded && bucket < len(ends); bucket++ {
		if list := out[first:ends[bucket]]; len(list) > few {
			slices.SortFunc(list, compareRanked)
		}
		first = ends[bucket]
	}
	insert(out)
	return out
}

func outcomeAt(outcomes []Outcome, i int) Outcome {
	if outcomes == nil {
		return Outcome(i)
	}
	return outcomes[i]
}

// insert sorts a nearly sorted list.
func insert(list []ranked) {
	for i := 1; i < len(list); i++ {
		r, at := list[i], i
		for ; at > 0 && r.precedes(list[at-1]); at-- {
			list[at] = list[at-1]
		}
		list[at] = r
	}
}

// has reports whether the list reaches down to a target.
func (s *sorted) has(target fixed.Number) bool { return target >= s.list[len(s.list)-1].utility }

// below returns the first rank with a utility < u.
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

// upTo returns the first rank with a utility <= u.
func (s *sorted) upTo(u fixed.Number) int { return s.below(min(u, fixed.Max-1) + 1) }

func (s *sorted) AtLeast(target fixed.Number) Outcome {
	rank := s.below(target)
	switch {
	case rank == 0:
		return NoOutcome
	case rank == 1 || s.list[rank-2].utility != s.list[rank-1].utility:
		return s.list[rank-1].outcome // no equal utilities
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

// risingCursor iterates over groups of equal utility, starting at the last group, and forwards within a
// group.
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

const (
	samples  = 1 << 16
	climbs   = 16
	maxTried = 64
)

// newSampled returns the inverse over a sample: random outcomes, plus the outcomes on the way from the best
// and the worst random outcome to a local optimum. The sample depends on domain and utility only.
func newSampled(domain *Domain, utility Utility) *sorted {
	random := NewRandom(domain.Size(), uint64(domain.Len()))
	seen := make(map[Outcome]struct{}, samples)
	outcomes := make([]Outcome, 0, samples+samples/4)
	add := func(o Outcome) {
		if _, ok := seen[o]; !ok {
			seen[o] = struct{}{}
			outcomes = append(outcomes, o)
		}
	}
	if bounded, ok := utility.(Bounded); ok {
		worst, best := bounded.Extremes()
		add(worst)
		add(best)
	}
	for range samples {
		add(Outcome(random.Below(domain.Size())))
	}
	first := sortOutcomes(slices.Clone(outcomes), utility)
	for i := range climbs {
		climb(domain, utility, first.list[i].outcome, 1, add)
		climb(domain, utility, first.list[len(first.list)-1-i].outcome, -1, add)
	}
	return sortOutcomes(outcomes, utility)
}

// climb adds the outcomes on the way from o to a local optimum: the best if sign is 1, the worst if it is -1.
// A step changes a single issue's value; if an issue offers many values, it tries 64, evenly spread.
func climb(domain *Domain, utility Utility, o Outcome, sign int64, add func(Outcome)) {
	for improved := true; improved; {
		improved = false
		for at := range domain.Len() {
			count := domain.Issue(at).Count
			for tried := range min(count, maxTried) {
				index := tried
				if count > maxTried {
					index = tried * (count / maxTried)
				}
				next := domain.With(o, at, index)
				if int64(utility.Of(next))*sign > int64(utility.Of(o))*sign {
					o, improved = next, true
					add(o)
				}
			}
		}
	}
}
