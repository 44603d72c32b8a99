package bargain

// NewPairs returns an inverse by pairs with other limits of its lists.
func NewPairs(domain *Domain, utility Additive, right, left uint64) (Inverse, bool) {
	return newPairs(domain, utility, right, left)
}

// NewSorted returns the inverse that sorts all outcomes at once.
func NewSorted(domain *Domain, utility Utility) Inverse { return newSorted(domain, utility) }

// Lazy is an inverse that makes what a query needs.
type Lazy struct{ *lazy }

// NewLazy returns an inverse that makes what a query needs. It sorts all outcomes when its queries have cost
// the limit, or for a query that needs all.
func NewLazy(domain *Domain, utility Additive, limit uint64) Lazy {
	l := newLazy(domain, utility)
	l.limit = limit
	return Lazy{l}
}

// IsSorted reports whether all outcomes are sorted.
func (l Lazy) IsSorted() bool { return l.all.Load() != nil }
