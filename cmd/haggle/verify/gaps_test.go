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
		model       *proof.Model
		seedDecides bool
		names       []string
	}{
		{proof.Buyer, nil, false, []string{"selection"}},
		{proof.Buyer, nil, true, []string{"seed", "selection"}},
		{proof.Seller, nil, true, []string{"late_commitment", "seed", "selection"}},
		{proof.Seller, &proof.Model{}, false, []string{"moves", "late_commitment", "selection"}},
	} {
		var names []string
		for _, gap := range gapsOf(&proof.Proof{Side: c.side, Reveal: proof.Reveal{Model: c.model}}, c.seedDecides) {
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
