package engine

import (
	"math/bits"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

var noon = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// documentStrategy is the JSON strategy from the requirements.
const documentStrategy = `{
	"publisher_id": 1, "negotiation_style": "balanced", "min_price_per_fetch_micro": 1000,
	"preferred_price_per_fetch_micro": 2000, "max_price_per_fetch_micro": 5000, "auto_accept_threshold": 0.90,
	"deal_breakers": [{"field": "price_per_fetch_micro", "operator": "<", "value": 500}],
	"llm_provider": "openai", "llm_model": "gpt-4"}`

func parsed(t testing.TB, document string) Strategy {
	t.Helper()
	s, err := ParseStrategy([]byte(document))
	require.NoError(t, err)
	return s
}

// at returns the terms of the requirements' proposal with a price.
func at(price uint64) terms.Terms {
	return terms.Terms{Price: price, TTLSeconds: 600, BurstRPS: 10, Purposes: []terms.Purpose{terms.Inference}}
}

// anywhere draws a number from least to most. Half of the numbers are spread evenly: rapid's own numbers are
// mostly next to the limits.
func anywhere(least, most uint64) *rapid.Generator[uint64] {
	spread := rapid.Map(rapid.Uint64(), func(seed uint64) uint64 {
		offset, _ := bits.Mul64(seed*0x9E3779B97F4A7C15, most-least+1)
		return least + offset
	})
	return rapid.OneOf(spread, rapid.Uint64Range(least, most))
}

// drawRange draws three numbers in rising order.
func drawRange(t *rapid.T, name string, most uint64) (low, middle, high uint64) {
	three := rapid.SliceOfN(anywhere(0, most), 3, 3).Draw(t, name)
	slices.Sort(three)
	return three[0], three[1], three[2]
}

func drawPurposes(t *rapid.T, from []terms.Purpose, least int, name string) []terms.Purpose {
	drawn := rapid.SliceOfNDistinct(rapid.SampledFrom(from), least, len(from), rapid.ID[terms.Purpose])
	return drawn.Draw(t, name)
}

// drawStrategy draws a valid strategy.
func drawStrategy(t *rapid.T) Strategy {
	s := NewStrategy()
	s.Style = rapid.SampledFrom(Styles()).Draw(t, "style")
	top := rapid.SampledFrom([]uint64{20, 5_000, terms.MaxPrice}).Draw(t, "top")
	s.MinPrice, s.PreferredPrice, s.MaxPrice = drawRange(t, "prices", top)
	s.PublishedFloor = anywhere(0, s.MinPrice).Draw(t, "floor")
	low, middle, high := drawRange(t, "ttls", 2000)
	s.MinTTLSeconds, s.PreferredTTLSeconds, s.MaxTTLSeconds = uint32(low), uint32(middle), uint32(high)
	low, middle, high = drawRange(t, "rates", 100)
	s.MinBurstRPS, s.PreferredBurstRPS, s.MaxBurstRPS = uint32(low), uint32(middle), uint32(high)
	s.AllowedPurposes = drawPurposes(t, terms.Purposes(), 1, "allowed")
	s.PreferredPurposes = drawPurposes(t, s.AllowedPurposes, 0, "preferred")
	s.MaxRounds = rapid.Uint32Range(1, 12).Draw(t, "rounds")
	s.AutoAcceptThreshold = terms.Decimal(anywhere(0, uint64(One)).Draw(t, "threshold"))
	tier := Tier{Price: s.PreferredPrice}
	for range rapid.IntRange(0, 3).Draw(t, "tiers") {
		tier.From += rapid.Uint64Range(1, 1000).Draw(t, "from")
		tier.Price = anywhere(s.MinPrice, tier.Price).Draw(t, "tier price")
		s.Tiers = append(s.Tiers, tier)
	}
	s.ApprovalAbove = MaxApprovalAbove // no drawn agreement reaches it
	if rapid.Bool().Draw(t, "approval") {
		s.ApprovalAbove = rapid.Uint64Range(0, 2*s.MaxPrice).Draw(t, "above")
	}
	for _, breaker := range rapid.SliceOfN(rapid.Custom(drawBreaker), 0, 3).Draw(t, "breakers") {
		with := s
		with.DealBreakers = append(slices.Clone(s.DealBreakers), breaker)
		if with.Validate() == nil {
			s = with
		}
	}
	require.NoError(t, s.Validate())
	return s
}

func drawBreaker(t *rapid.T) DealBreaker {
	if rapid.Bool().Draw(t, "of purposes") {
		return DealBreaker{FieldPurposes, rapid.SampledFrom([]Operator{Contains, Lacks}).Draw(t, "operator"),
			Operand{Purpose: rapid.SampledFrom(terms.Purposes()).Draw(t, "purpose")}}
	}
	operators := []Operator{Less, LessOrEqual, Greater, GreaterOrEqual, Equal, NotEqual}
	return DealBreaker{
		rapid.SampledFrom([]Field{FieldPrice, FieldTTL, FieldRPS, FieldPrepaid}).Draw(t, "field"),
		rapid.SampledFrom(operators).Draw(t, "operator"),
		Operand{Number: rapid.Uint64Range(0, 6000).Draw(t, "value")},
	}
}

// drawProposal draws terms that often lie near the strategy's.
func drawProposal(t *rapid.T, s *Strategy) terms.Terms {
	proposal := terms.Terms{
		Price:          anywhere(0, min(s.MaxPrice+s.MaxPrice/4+10, terms.MaxPrice)).Draw(t, "price"),
		TTLSeconds:     s.PreferredTTLSeconds,
		BurstRPS:       s.PreferredBurstRPS,
		Purposes:       s.AllowedPurposes,
		PrepaidFetches: rapid.Uint64Range(0, 3000).Draw(t, "prepaid"),
	}
	if rapid.Bool().Draw(t, "price near the minimum") {
		proposal.Price = anywhere(s.MinPrice, s.PreferredPrice).Draw(t, "price")
	}
	if rapid.Bool().Draw(t, "other terms") {
		proposal.TTLSeconds = rapid.Uint32Range(0, 2100).Draw(t, "ttl")
		proposal.BurstRPS = rapid.Uint32Range(0, 110).Draw(t, "rps")
		proposal.Purposes = drawPurposes(t, terms.Purposes(), 1, "purposes")
	}
	return proposal
}
