package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const docs = "../../docs"

// The figures and tables of docs/RESEARCH.md are those of this version, and the page shows all figures.
func TestThePageIsUpToDate(t *testing.T) {
	generated, err := generate(docs)
	require.NoError(t, err)
	for name, content := range generated {
		present, err := os.ReadFile(filepath.Join(docs, name))
		require.NoError(t, err)
		require.Equal(t, string(content), string(present), "%s: run go run ./internal/research docs", name)
		if name != page {
			require.Contains(t, string(generated[page]), "]("+name+")")
		}
	}
	drawn, err := filepath.Glob(filepath.Join(docs, "research-*.svg"))
	require.NoError(t, err)
	require.Len(t, drawn, len(figures))
	require.Equal(t, len(tables), strings.Count(string(generated[page]), "<!-- table "))
}

// TestEfficiency compares the formula of the figure with a sum over a grid, and with the published share of
// the gains: 27/32.
func TestEfficiency(t *testing.T) {
	require.InDelta(t, 1, efficiency(0), 1e-12)
	require.InDelta(t, 27.0/32, efficiency(.25), 1e-12)
	const steps = 1_000
	for _, margin := range []float64{0, .1, .25, .5} {
		gains := 0.0
		for value := range steps {
			for cost := range steps {
				if difference := (float64(value) - float64(cost)) / steps; difference >= margin {
					gains += difference / steps / steps
				}
			}
		}
		require.InDelta(t, efficiency(margin), gains*6, .005, margin)
	}
}
