package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

func TestScoreOfTheWorkedExample(t *testing.T) {
	s := parsed(t, documentStrategy)
	score := Score(&s, at(1800))
	require.Equal(t, "0.92", score.Total.String(), "0.8 of the way from 0.001 to 0.002, and the rest preferred")
	require.Equal(t, ScoreParts{
		Total: 920_000, Price: 320_000, TTL: 200_000, RPS: 200_000, Purposes: 200_000,
	}, score)
	require.Equal(t, "0.8", Score(&s, at(1500)).Total.String())
}

func TestPartsOfTheScore(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s *Strategy, t *terms.Terms)
		part   func(ScoreParts) terms.Decimal
		expect string
	}{
		{"price at the minimum", func(_ *Strategy, t *terms.Terms) { t.Price = 1000 }, price, "0"},
		{"price below the minimum", func(_ *Strategy, t *terms.Terms) { t.Price = 1 }, price, "0"},
		{"price above the preferred one", func(_ *Strategy, t *terms.Terms) { t.Price = 9000 }, price, "0.4"},
		{"a third is rounded down", func(s *Strategy, t *terms.Terms) { s.PreferredPrice, t.Price = 1003, 1001 },
			price, "0.133333"},
		{"preferred = minimum, below", func(s *Strategy, t *terms.Terms) { s.MinPrice, t.Price = 2000, 1999 },
			price, "0"},
		{"preferred = minimum, equal", func(s *Strategy, t *terms.Terms) { s.MinPrice, t.Price = 2000, 2000 },
			price, "0.4"},
		{"preferred price 0", func(s *Strategy, t *terms.Terms) { s.MinPrice, s.PreferredPrice, t.Price = 0, 0, 0 },
			price, "0.4"},
		{"volume tier", func(s *Strategy, t *terms.Terms) {
			s.Tiers, t.PrepaidFetches, t.Price = []Tier{{100, 1500}}, 100, 1400
		}, price, "0.32"},
		{"below the volume tier", func(s *Strategy, t *terms.Terms) {
			s.Tiers, t.PrepaidFetches, t.Price = []Tier{{100, 1500}}, 99, 1400
		}, price, "0.16"},
		{"TTL half as long", func(_ *Strategy, t *terms.Terms) { t.TTLSeconds = 300 }, ttl, "0.1"},
		{"TTL longer by half", func(_ *Strategy, t *terms.Terms) { t.TTLSeconds = 900 }, ttl, "0.1"},
		{"TTL twice as long", func(_ *Strategy, t *terms.Terms) { t.TTLSeconds = 1200 }, ttl, "0"},
		{"TTL very long", func(_ *Strategy, t *terms.Terms) { t.TTLSeconds = terms.MaxTTLSeconds }, ttl, "0"},
		{"preferred TTL 0, equal", func(s *Strategy, t *terms.Terms) { s.PreferredTTLSeconds, t.TTLSeconds = 0, 0 },
			ttl, "0.2"},
		{"preferred TTL 0, other", func(s *Strategy, t *terms.Terms) { s.PreferredTTLSeconds, t.TTLSeconds = 0, 1 },
			ttl, "0"},
		{"rate 9 of 10", func(_ *Strategy, t *terms.Terms) { t.BurstRPS = 9 }, rps, "0.18"},
		{"preferred rate 0, other", func(s *Strategy, t *terms.Terms) { s.PreferredBurstRPS, t.BurstRPS = 0, 1 },
			rps, "0"},
		{"one of two purposes", func(s *Strategy, t *terms.Terms) {
			s.PreferredPurposes = []terms.Purpose{terms.Inference, terms.Search}
		}, purposes, "0.1"},
		{"other purposes do not count", func(_ *Strategy, t *terms.Terms) {
			t.Purposes = []terms.Purpose{terms.Inference, terms.Search}
		}, purposes, "0.2"},
		{"no preferred purposes", func(s *Strategy, t *terms.Terms) { s.PreferredPurposes = nil }, purposes, "0.2"},
		{"no purposes", func(_ *Strategy, t *terms.Terms) { t.Purposes = nil }, purposes, "0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, proposal := parsed(t, documentStrategy), at(1800)
			c.change(&s, &proposal)
			require.Equal(t, c.expect, c.part(Score(&s, proposal)).String())
		})
	}
}

func price(s ScoreParts) terms.Decimal    { return s.Price }
func ttl(s ScoreParts) terms.Decimal      { return s.TTL }
func rps(s ScoreParts) terms.Decimal      { return s.RPS }
func purposes(s ScoreParts) terms.Decimal { return s.Purposes }
