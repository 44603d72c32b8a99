package bargain

import (
	"math/bits"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// lists are two lists of combinations of an additive utility's issues. Each outcome is the sum of an element
// of each.
type lists struct {
	left, right half
	// rows is about the number of rows that a query visits: a row is an element of the left list.
	rows uint64
}

// newLists returns two lists that are about equally long, for domains whose combinations fit into them.
//
// The more important issues are in one list, the less important ones in the other. Then the sums of the
// latter fit into the gaps between those of the former as far as possible, and few rows can have the outcome
// for a target.
func newLists(domain *Domain, utility Additive) *lists {
	values, runs := make([]partial, 0, 48), make([]run, 0, 8)
	for at := range domain.Len() {
		values, runs = appendValues(values, runs, domain, utility, at)
		for i := at; i > 0 && runs[i].span > runs[i-1].span; i-- {
			runs[i], runs[i-1] = runs[i-1], runs[i]
		}
	}
	cut, size, least, left := 0, uint64(1), domain.Size()+1, uint64(1)
	for i, r := range runs {
		left *= uint64(r.end - r.first)
		if sum := left + domain.Size()/left; sum < least {
			cut, size, least = i+1, left, sum
		}
	}
	memory, l := make([]partial, least), new(lists)
	l.left.list = combine(memory[:0:size], values, runs[:cut])
	l.right.list = combine(memory[size:size], values, runs[cut:])
	l.rows = rows(l.left.list, l.right.list)
	if other := rows(l.right.list, l.left.list); other < l.rows {
		l.left, l.right, l.rows = l.right, l.left, other
	}
	return l
}

// rows returns about how many elements of the left list a query visits: those whose sums with the right list
// are on both sides of a target.
func rows(left, right []partial) uint64 {
	count := uint64(len(left))
	if own, other := span(left), span(right); own > other {
		high, low := bits.Mul64(count, uint64(other))
		count, _ = bits.Div64(high, low, uint64(own))
	}
	return count + 1
}

// atLeast returns the lowest sum from need on, and of equal ones that with the lowest offset, which is
// [NoOutcome] if there is none. It finds in each row the first sum from need on. From row to row it is further
// down the right list. It skips the rows that have no such sum, and those that have only higher sums than
// another row.
func (l *lists) atLeast(need fixed.Number) partial {
	found := partial{offset: NoOutcome}
	lowest, highest := l.right.at(0).sum, l.right.at(l.right.len()-1).sum
	at := l.right.len() - 1
	for rank := l.left.from(need-highest, l.left.len()/2); rank < l.left.len(); rank++ {
		left := l.left.at(rank)
		if found.offset != NoOutcome && left.sum+lowest > found.sum {
			break
		}
		at = l.right.from(need-left.sum, at)
		sum := left.sum + l.right.at(at).sum
		if found.offset != NoOutcome && sum > found.sum {
			continue
		}
		offset := left.offset + l.right.lowest(at).offset
		if found.offset == NoOutcome || sum < found.sum || offset < found.offset {
			found = partial{sum, offset}
		}
	}
	return found
}

// atMost is atLeast upside down: it begins with the last row that has a sum up to need.
func (l *lists) atMost(need fixed.Number) partial {
	found := partial{offset: NoOutcome}
	lowest, highest := l.right.at(0).sum, l.right.at(l.right.len()-1).sum
	after := uint64(0)
	for rank := l.left.after(need-lowest, l.left.len()/2); rank > 0; rank-- {
		left := l.left.at(rank - 1)
		if found.offset != NoOutcome && left.sum+highest < found.sum {
			break
		}
		after = l.right.after(need-left.sum, after)
		sum := left.sum + l.right.at(after-1).sum
		if found.offset != NoOutcome && sum < found.sum {
			continue
		}
		offset := left.offset + l.right.lowest(after-1).offset
		if found.offset == NoOutcome || sum > found.sum || offset < found.offset {
			found = partial{sum, offset}
		}
	}
	return found
}

// highest returns the outcomes with the highest utilities in their order, equal ones by their number: at
// least count of them, which must not exceed their number, and all others with the last one's utility. Both
// halves must be stored.
func (l *lists) highest(count int) []ranked {
	left, right := l.left.list, l.right.list
	// The best i elements of the left list and the best j of the right one have i*j sums, which are at least
	// that of the last two elements.
	least := fixed.Min
	for i := 1; i <= min(count, len(left)); i++ {
		if j := (count + i - 1) / i; j <= len(right) {
			least = max(least, left[len(left)-i].sum+right[len(right)-j].sum)
		}
	}
	const usual = 64 // needs no memory of the heap
	utilities, outcomes := make([]fixed.Number, 0, usual), make([]Outcome, 0, usual)
	if 2*count > usual {
		utilities, outcomes = make([]fixed.Number, 0, 2*count), make([]Outcome, 0, 2*count)
	}
	for i := len(left) - 1; i >= 0 && left[i].sum+right[len(right)-1].sum >= least; i-- {
		for j := len(right) - 1; j >= 0 && left[i].sum+right[j].sum >= least; j-- {
			utilities = append(utilities, left[i].sum+right[j].sum)
			outcomes = append(outcomes, left[i].offset+right[j].offset)
		}
	}
	return spread(utilities, outcomes)
}
