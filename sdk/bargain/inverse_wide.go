package bargain

import (
	"sync"

	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

// wide is the inverse of an additive utility whose range is too wide for the keys of lists. It answers targets
// with pairs, and sorts all outcomes for everything else, because pairs have another order of equal outcomes.
type wide struct {
	*pairs
	all func() *sorted
}

// maxWide bounds the number of combinations in the right list. Both lists of 2^20 outcomes fit, then.
const maxWide = 1 << 10

func newWide(domain *Domain, utility Additive) Inverse {
	lists, ok := newPairs(domain, utility, maxWide, maxLeft)
	if !ok || !lists.Exact() {
		return newSorted(domain, utility)
	}
	return &wide{lists, sync.OnceValue(func() *sorted { return newSorted(domain, utility) })}
}

func (w *wide) Within(low, high fixed.Number, random *Random) Outcome {
	return w.all().Within(low, high, random)
}

func (w *wide) Descend() Cursor { return w.all().Descend() }

func (w *wide) Ascend() Cursor { return w.all().Ascend() }
