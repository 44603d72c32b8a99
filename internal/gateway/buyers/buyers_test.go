package buyers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/buyers"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
)

func strategyOf(t *testing.T, style engine.Style) *engine.Strategy {
	t.Helper()
	s, err := buyers.Publisher(style)
	require.NoError(t, err)
	return &s
}

// TestNoBuyerLearnsALowerPrice replays 8,000 buyers with each style. None learns a price below the style's bound, not
// even with ten clients, and a low-baller none below the preferred price.
func TestNoBuyerLearnsALowerPrice(t *testing.T) {
	for style, bound := range map[engine.Style]uint64{
		engine.Aggressive: 2000, engine.Balanced: 1750, engine.Flexible: 1571, engine.Cooperative: 1400,
	} {
		t.Run(string(style), func(t *testing.T) {
			t.Parallel()
			s := strategyOf(t, style)
			least := ^uint64(0)
			for seed := range uint64(buyers.Population) {
				b := buyers.Draw(s, seed)
				bought, err := b.Buy(s)
				require.NoError(t, err)
				again, err := b.Buy(s)
				require.NoError(t, err)
				require.Equal(t, bought, again, "seed %d", seed)
				require.LessOrEqual(t, bought.Price, b.Value, "seed %d", seed)
				require.GreaterOrEqual(t, bought.Least, bound, "seed %d, %s", seed, b.Kind)
				if b.Kind == buyers.LowBaller {
					require.GreaterOrEqual(t, bought.Least, s.PreferredPrice, "seed %d", seed)
				}
				least = min(least, bought.Least)
			}
			require.LessOrEqual(t, least, bound+10, "the bound is narrow")
		})
	}
}

// TestLowBallersPayThePreferredPrice: those that accept the last counter offer.
func TestLowBallersPayThePreferredPrice(t *testing.T) {
	for _, style := range engine.Styles() {
		s := strategyOf(t, style)
		b := buyers.Buyer{Kind: buyers.LowBaller, Value: 3000, Opening: s.Floor()}
		bought, err := b.Buy(s)
		require.NoError(t, err)
		require.Len(t, bought.Proposals, int(s.MaxRounds))
		require.Equal(t, s.PreferredPrice, bought.Price, style)
	}
}
