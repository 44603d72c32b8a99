package engine

import (
	"slices"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// Score weights in millionths.
const (
	priceWeight   = 400_000
	ttlWeight     = 200_000
	rpsWeight     = 200_000
	purposeWeight = 200_000
)

// ScoreParts is a score: the sum of four weighted parts, in millionths. Each part is rounded down, so that
// rounding never lifts a score to a threshold.
type ScoreParts struct {
	// Total is the sum of all parts, 0 to [One].
	Total terms.Decimal `json:"total"`
	// Price is up to 0.4, in proportion to the price's way from the minimum to the preferred price.
	Price terms.Decimal `json:"price"`
	// TTL, RPS and Purposes are up to 0.2 each.
	TTL      terms.Decimal `json:"token_ttl"`
	RPS      terms.Decimal `json:"burst_rps"`
	Purposes terms.Decimal `json:"purposes"`
}

// Score returns the strategy's score for terms:
//
//	price     0.4 (price - minimum) / (preferred - minimum), limited to 0 and 0.4
//	TTL, RPS  0.2 (1 - min(|value - preferred| / preferred, 1))
//	purposes  0.2 matched / preferred
//
// The preferred price depends on the volume tier. If preferred and minimum price are equal, the price part is
// full from the preferred price on and otherwise 0. If a preferred TTL or rate is 0, the part is full for 0
// and otherwise 0. If no purposes are preferred, their part is full. Purposes outside the preferred purposes
// do not count. The score contains the hidden minimum: it is for the publisher.
func Score(s *Strategy, t terms.Terms) ScoreParts {
	return s.scoreFrom(s.MinPrice, t)
}

// scoreFrom returns the score with another price replacing the minimum.
func (s *Strategy) scoreFrom(least uint64, t terms.Terms) ScoreParts {
	parts := ScoreParts{
		Price:    priceScore(t.Price, least, s.preferredPrice(t.PrepaidFetches)),
		TTL:      closeness(ttlWeight, t.TTLSeconds, s.PreferredTTLSeconds),
		RPS:      closeness(rpsWeight, t.BurstRPS, s.PreferredBurstRPS),
		Purposes: purposeWeight,
	}
	if preferred := len(s.PreferredPurposes); preferred > 0 {
		matched := 0
		for _, purpose := range s.PreferredPurposes {
			if slices.Contains(t.Purposes, purpose) {
				matched++
			}
		}
		parts.Purposes = terms.Decimal(purposeWeight * matched / preferred)
	}
	parts.Total = parts.Price + parts.TTL + parts.RPS + parts.Purposes
	return parts
}

func priceScore(price, least, preferred uint64) terms.Decimal {
	switch {
	case price >= preferred:
		return priceWeight
	case price <= least:
		return 0
	}
	return terms.Decimal(priceWeight * (price - least) / (preferred - least))
}

func closeness(weight uint64, value, preferred uint32) terms.Decimal {
	difference := max(value, preferred) - min(value, preferred)
	switch {
	case difference == 0:
		return terms.Decimal(weight)
	case difference >= preferred:
		return 0
	}
	return terms.Decimal(weight * uint64(preferred-difference) / uint64(preferred))
}
