package proof_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
)

func init() {
	strategy.Register(strategy.Entry{
		Name: "late", Summary: "concedes at the end", HasOpening: true,
		Parameters: []strategy.Parameter{{Name: "e", Summary: "exponent", Default: 9 * fixed.One, Max: 50 * fixed.One}},
		New:        func(v []fixed.Number) bargain.Strategy { return strategy.Aspiration(v[0]) },
	})
}

// TestRegisteredStrategiesAreProved replays a strategy that is registered by this program only.
func TestRegisteredStrategiesAreProved(t *testing.T) {
	p := played(t, proof.Buyer, "late:e=1.5", "hardliner")
	result, err := verifyFile(t, p)
	require.NoError(t, err)
	require.True(t, result.Replayed)
	require.Equal(t, 3, result.Offers)
	p.Reveal.Strategy.Name = "late"
	commit(t, p)
	_, err = verifyFile(t, p)
	require.ErrorIs(t, err, proof.ErrReplay)
}
