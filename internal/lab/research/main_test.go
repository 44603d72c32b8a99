package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"

	"github.com/haggle-protocol/haggle/internal/gateway/buyers"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/license"
)

const docs = "../../../docs"

// TestThePageIsUpToDate checks that the figures and tables in docs/RESEARCH.md match this version, and that
// the page shows all figures.
func TestThePageIsUpToDate(t *testing.T) {
	generated, err := generate(docs)
	require.NoError(t, err)
	for name, content := range generated {
		present, err := os.ReadFile(filepath.Join(docs, name))
		require.NoError(t, err)
		require.Equal(t, string(content), string(present), "%s: run go run ./internal/lab/research docs", name)
		if tables[name] == nil {
			require.Contains(t, string(generated[page]), "]("+name+")")
		}
	}
	drawn, err := filepath.Glob(filepath.Join(docs, "research-*.svg"))
	require.NoError(t, err)
	require.Len(t, drawn, len(figures))
	for file, content := range tables {
		require.Equal(t, len(content), strings.Count(string(generated[file]), "<!-- table "))
	}
}

// TestEachStyleSellsAboveTheMinimum: styles differ in the result, and the lowest price that ten clients learn together
// is the style's.
func TestEachStyleSellsAboveTheMinimum(t *testing.T) {
	above := takings{least: 2_001}
	for _, style := range engine.Styles() {
		now, err := takingsOf(style)
		require.NoError(t, err)
		require.Less(t, now.least, above.least, style)
		require.Greater(t, now.byKind[buyers.LowBaller], earlier[style].byKind[buyers.LowBaller], style)
		above = now
	}
	require.Greater(t, above.least, earlier[engine.Cooperative].least)
}

// TestEarningsRise has MiCRO, which makes no deal if it concedes one base unit with each offer.
func TestEarningsRise(t *testing.T) {
	unchanged, err := advantages(4, func(s bargain.Strategy) bargain.Strategy { return plain{s} })
	require.NoError(t, err)
	onChain, err := advantages(4, func(s bargain.Strategy) bargain.Strategy { return s })
	require.NoError(t, err)
	require.Len(t, onChain, len(strategy.Names()))
	require.Greater(t, stat.Mean(onChain["micro"].both, nil), 0.0)
	require.Less(t, stat.Mean(unchanged["micro"].both, nil), 0.0)
	table, err := earningsTable(4)
	require.NoError(t, err)
	require.Equal(t, len(strategy.Names())+2, strings.Count(table, "\n"))
	require.Equal(t, "2.5 ± 2.1 %", interval([]float64{.01, .02, .03, .04}))
}

func TestDefaultBuyerIsTheBest(t *testing.T) {
	all, err := licenseGains()
	require.NoError(t, err)
	require.Equal(t, license.DefaultStrategy, all[0].name)
}

// TestEfficiency compares the figure's formula with a sum over a grid and with the published share of the
// gains: 27/32.
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

// TestTheBandNeverLosesMoreThanTheReservationValue plays every character in the band on both sides, in all
// pairs: a deal beyond the side's limit would make the profit negative.
func TestTheBandNeverLosesMoreThanTheReservationValue(t *testing.T) {
	for _, c := range characters {
		for self := range 2 {
			all, err := against(banded(c), self, func(pair) bool { return true })
			require.NoError(t, err)
			require.NotZero(t, all.deals, c.name)
			require.GreaterOrEqual(t, all.worst, 0.0, c.name)
		}
	}
	obeying, err := against(alone(characters[len(characters)-1]), 0, pair.mutual)
	require.NoError(t, err)
	require.Negative(t, obeying.worst, "without the band the same model loses")
}

// TestProfitIsNormalized checks Xia et al.'s definition with numbers.
func TestProfitIsNormalized(t *testing.T) {
	p := pair{list: 10_000, cost: 6_000}
	require.EqualValues(t, 8_000, p.budget())
	require.InDelta(t, .25, p.profit(0, 7_500), 1e-12)
	require.InDelta(t, .75, p.profit(1, 7_500), 1e-12)
	require.InDelta(t, -.5, p.profit(0, 9_000), 1e-12)
	narrow := pair{list: 10_000, cost: 7_999}
	require.InDelta(t, .5, narrow.profit(0, 7_950), 1e-12, "a room below 1.00 counts as 1.00")
}
