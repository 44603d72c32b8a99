package bargain

// NewPairs returns an inverse by pairs with other limits of its lists.
func NewPairs(domain *Domain, utility Additive, right, left uint64) (Inverse, bool) {
	return newPairs(domain, utility, right, left)
}
