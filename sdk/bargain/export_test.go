package bargain

// NewPairs returns an inverse by pairs with different list limits.
func NewPairs(domain *Domain, utility Additive, right, left uint64) (Inverse, bool) {
	d, ok := divide(domain, utility, right, left)
	if !ok {
		return nil, false
	}
	return newPairs(domain, utility, d), true
}

// NewSorted returns the inverse that sorts all outcomes at once.
func NewSorted(domain *Domain, utility Utility) Inverse { return newSorted(domain, utility) }

// Lazy is an inverse that makes what a query needs.
type Lazy struct{ *lazy }

// NewLazy returns an inverse that makes what a query needs. Spent is the cost of earlier queries: the higher
// it is, the earlier more outcomes are sorted.
func NewLazy(domain *Domain, utility Bounded, spent int64) Lazy {
	p, err := NewPreferences(domain, utility, 0)
	if err != nil {
		panic(err)
	}
	l := (*lazy)(p)
	l.spent.Store(spent)
	return Lazy{l}
}

// IsSorted reports whether all outcomes are sorted.
func (l Lazy) IsSorted() bool {
	start := l.start.Load()
	return start != nil && uint64(len(start.list)) == l.domain.Size()
}
