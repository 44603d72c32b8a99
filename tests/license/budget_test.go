package license_test

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/license"
)

// recorder keeps the prices sent by a client.
type recorder struct {
	http.RoundTripper
	prices []uint64
}

func (r *recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(body)
		if err != nil {
			return nil, err
		}
		var sent struct {
			Terms *license.Terms `json:"proposed_terms"`
		}
		if json.Unmarshal(text, &sent) == nil && sent.Terms != nil {
			r.prices = append(r.prices, sent.Terms.PriceMicro)
		}
	}
	return r.RoundTripper.RoundTrip(request)
}

// No strategy proposes or agrees to more than random limits, against every style.
func TestTheLimitsAreNeverExceeded(t *testing.T) {
	g := start(t, many)
	var publishers []string
	for at, style := range []string{"aggressive", "balanced", "flexible", "cooperative"} {
		name := fmt.Sprintf("site-%d.local", at)
		publishers = append(publishers, name)
		g.publisher(t, name, fmt.Sprintf(`{"negotiation_style": %q, "min_price_per_fetch_micro": %d,
			"preferred_price_per_fetch_micro": 2000, "max_price_per_fetch_micro": 5000}`, style, 500+at*300))
	}
	sent := &recorder{RoundTripper: http.DefaultTransport}
	key := g.key(t, "Company")
	client := g.with(t, keyed{key, sent})
	strategies := strategy.Named()
	names := slices.Sorted(maps.Keys(strategies))
	ids, deals := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		ids++
		request := license.Request{
			ID: fmt.Sprintf("property %d", ids), Purposes: []license.Purpose{license.Inference},
			Publishers:    publishers[:rapid.IntRange(1, len(publishers)).Draw(t, "publishers")],
			Fetches:       rapid.Uint64Range(1, 10_000).Draw(t, "fetches"),
			MaxPriceMicro: price(t, "price"),
			Rounds:        rapid.IntRange(1, 6).Draw(t, "rounds"),
			Strategy:      strategies[rapid.SampledFrom(names).Draw(t, "strategy")],
		}
		share := request.Fetches * price(t, "affordable")
		request.BudgetMicro = share*uint64(len(request.Publishers)) + rapid.Uint64Range(0, 100).Draw(t, "rest")
		sent.prices = nil
		result, err := client.Buy(t.Context(), request)
		require.NoError(t, err)
		require.LessOrEqual(t, result.CostMicro(), request.BudgetMicro)
		for _, price := range sent.prices {
			require.LessOrEqual(t, price, request.MaxPriceMicro)
			require.LessOrEqual(t, price*request.Fetches*uint64(len(request.Publishers)), request.BudgetMicro)
		}
		for _, bought := range result.Purchases {
			details := license.Details{}
			if bought.Negotiation != "" {
				details, err = client.Status(t.Context(), bought.Negotiation)
				require.NoError(t, err)
			}
			if bought.Outcome == license.Deal {
				deals++
				require.Equal(t, bought.Terms, details.FinalTerms)
				require.LessOrEqual(t, bought.Terms.PriceMicro, request.MaxPriceMicro)
			} else {
				require.NotEqual(t, license.Accepted, details.Status, "%+v", bought)
			}
		}
	})
	require.NotZero(t, deals)
}

// price draws a price, at most 6,000. Ranges draw low numbers more often, which no publisher accepts, so half
// of the prices are counted from the top.
func price(t *rapid.T, name string) uint64 {
	drawn := rapid.Uint64Range(1, 6_000).Draw(t, name)
	if rapid.Bool().Draw(t, name+" from the top") {
		return 6_001 - drawn
	}
	return drawn
}

// keyed sends an API key.
type keyed struct {
	key  string
	base http.RoundTripper
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)
	return k.base.RoundTrip(r)
}
