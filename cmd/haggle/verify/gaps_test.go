package verify

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
)

func TestGapsApplyToTheirProofs(t *testing.T) {
	for _, c := range []struct {
		side        proof.Side
		seedDecides bool
		names       []string
	}{
		{proof.Buyer, false, []string{"selection"}},
		{proof.Buyer, true, []string{"seed", "selection"}},
		{proof.Seller, true, []string{"late_commitment", "seed", "selection"}},
	} {
		var names []string
		for _, gap := range gapsOf(&proof.Proof{Side: c.side}, c.seedDecides) {
			names = append(names, gap.name)
		}
		require.Equal(t, c.names, names)
	}
}

func TestGapsAreInTheTable(t *testing.T) {
	page, err := os.ReadFile("../../../docs/PROOFS.md")
	require.NoError(t, err)
	_, rest, _ := strings.Cut(string(page), "\n| belief |")
	for _, gap := range gaps {
		var found bool
		_, rest, found = strings.Cut(rest, "| `"+gap.name+"`: ")
		require.True(t, found, gap.name)
	}
}
