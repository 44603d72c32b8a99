package terms

import (
	"fmt"
	"math/bits"

	"github.com/haggle-protocol/haggle/sdk/bargain"
)

// Priced returns preferences that use the named integer issue as the price: each value counts unit base units
// of the mint, for example 10^decimals. The outcomes keep their numbers and utilities. It returns [ErrDomain]
// if there is no such issue, or an amount is negative or exceeds 64 bits.
func Priced(p *bargain.Preferences, name string, unit uint64) (*bargain.Preferences, error) {
	domain, found := p.Domain(), false
	changed := make([]bargain.Issue, domain.Len())
	for at := range changed {
		changed[at] = *domain.Issue(at)
		if changed[at].Name != name {
			continue
		}
		issue := domain.Issue(at)
		first, last := issue.Int(0), issue.Int(issue.Count-1)
		high, _ := bits.Mul64(uint64(last), unit)
		if issue.Kind != bargain.KindInteger || first < 0 || high != 0 || unit == 0 {
			return nil, fmt.Errorf("%w: issue %q must have integers from 0 whose amounts have 64 bits", ErrDomain, name)
		}
		found = true
		changed[at] = bargain.Price(name, uint64(first)*unit, uint64(last)*unit, issue.Tick*unit)
	}
	if !found {
		return nil, fmt.Errorf("%w: no issue is named %q", ErrDomain, name)
	}
	priced, err := bargain.NewDomain(changed...)
	if err != nil {
		return nil, err
	}
	if _, err := Price(priced, 0); err != nil {
		return nil, err
	}
	return bargain.NewDiscounted(priced, p.Utility(), p.Reservation(), p.Discount())
}
