package policy

import (
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Band is a price range, in the mint's base units. A buyer's price counts with the decay of all offers until
// the deal, as in MaxTotal, and a seller's before the protocol's fee, as in MinPrice.
type Band struct {
	// Lower and Upper are inclusive. Upper must be positive.
	Lower uint64 `file:"lower"`
	Upper uint64 `file:"upper"`
}

// check rejects prices outside the band.
func (b Band) check() error {
	switch {
	case b.Upper == 0:
		return fmt.Errorf("upper must be positive")
	case b.Lower > b.Upper:
		return fmt.Errorf("lower %d is above upper %d", b.Lower, b.Upper)
	}
	return nil
}

// Band returns a side's band; if there is none, the zero value.
func (l TokenLimits) Band(side protocol.OfferSide) Band {
	if side == protocol.OfferSideBuyer {
		return l.BuyerBand
	}
	return l.SellerBand
}

// checkBands rejects bands that contain no price.
func (c *Config) checkBands() error {
	for mint, limits := range c.Tokens {
		for name, band := range map[string]Band{"buyerBand": limits.BuyerBand, "sellerBand": limits.SellerBand} {
			if band == (Band{}) {
				continue
			}
			if err := band.check(); err != nil {
				return fmt.Errorf("tokens.%s.%s: %w", mint, name, err)
			}
		}
	}
	return nil
}

// checkBand denies prices outside the band for their mint and side.
func (r *reading) checkBand(price Price) error {
	band := r.policy.config.Tokens[price.Mint].Band(price.Side)
	denial := r.deny(RuleBand, price.Negotiation, nil)
	denial.Mint, denial.Requested, denial.Used = price.Mint, price.Amount, price.Decay
	switch total := price.Total(); {
	case band == (Band{}):
		return nil
	case total < band.Lower:
		denial.Limit = band.Lower
	case total > band.Upper:
		denial.Limit = band.Upper
	default:
		return nil
	}
	return denial
}

// bandAmounts returns the amounts of an out-of-band price, and the violated bound.
func (d *Denial) bandAmounts(write func(uint64) string) string {
	total, bound := sum(d.Requested, d.Used), "at most"
	if total < d.Limit {
		bound = "at least"
	}
	text := "price " + write(d.Requested)
	if d.Used > 0 {
		text += fmt.Sprintf(" and decay %s: %s in all", write(d.Used), write(total))
	}
	return fmt.Sprintf("%s, %s %s", text, bound, write(d.Limit))
}
