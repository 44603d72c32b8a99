package proof_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
)

// TestParametersAreProved checks that commitment and replay depend on the strategy parameters.
func TestParametersAreProved(t *testing.T) {
	for _, side := range []proof.Side{proof.Buyer, proof.Seller} {
		p := played(t, side, "negmas-boulware:e=1.5", "hardliner")
		result, err := verifyFile(t, p)
		require.NoError(t, err)
		require.Equal(t, 3, result.Offers)
		for name, want := range map[string]error{
			"negmas-boulware": proof.ErrReplay, "negmas-boulware:e=1.6": proof.ErrReplay,
			"negmas-boulware:e=0.5": proof.ErrStrategy, "boulware:e=1.5": proof.ErrStrategy,
			"negmas-boulware:e=1.50": proof.ErrStrategy, "negmas-boulware:e=4": proof.ErrStrategy,
		} {
			p.Reveal.Strategy.Name = name
			_, err := p.Verify()
			require.ErrorIs(t, err, proof.ErrCommitment, name)
			commit(t, p)
			_, err = verifyFile(t, p)
			require.ErrorIs(t, err, want, name)
		}
		p.Reveal.Strategy.Name = "boulware:e=1.5"
		commit(t, p)
		_, err = p.Verify()
		require.EqualError(t, err,
			`proof: invalid strategy: name "boulware:e=1.5" must be "negmas-boulware:e=1.5"`)
	}
}
