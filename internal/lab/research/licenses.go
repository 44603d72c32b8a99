package main

import (
	"fmt"

	"github.com/haggle-protocol/haggle/internal/gateway/buyers"
	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/lab/report"
)

// takings are a publisher's earnings from the population of package buyers, in micro units.
type takings struct {
	// byKind maps each buyer kind to the mean price, and all is the mean over all buyers. If there is no
	// deal, the price is 0.
	byKind map[buyers.Kind]uint64
	all    uint64
	// least is the lowest price that buyers can observe.
	least uint64
}

// earlier holds the takings by the rules of commit 44f9f1ec, of 29 November 2026. They depended on the round
// alone: the asking price fell to the minimum, and any client that waited paid it.
var earlier = map[engine.Style]takings{
	engine.Aggressive:  {kinds(993, 1_447, 1_985, 2_105, 1_683), 1_643, 1_000},
	engine.Balanced:    {kinds(993, 1_405, 2_006, 1_439, 1_384), 1_445, 1_000},
	engine.Flexible:    {kinds(993, 1_190, 1_982, 1_105, 1_151), 1_284, 1_000},
	engine.Cooperative: {kinds(993, 1_129, 1_911, 1_042, 1_096), 1_234, 1_000},
}

func kinds(prices ...uint64) map[buyers.Kind]uint64 {
	by := map[buyers.Kind]uint64{}
	for at, kind := range buyers.Kinds() {
		by[kind] = prices[at]
	}
	return by
}

// takingsOf plays all buyers against a style.
func takingsOf(style engine.Style) (takings, error) {
	s, err := buyers.Publisher(style)
	if err != nil {
		return takings{}, err
	}
	t := takings{byKind: map[buyers.Kind]uint64{}, least: s.MaxPrice}
	count := map[buyers.Kind]uint64{}
	for seed := range uint64(buyers.Population) {
		b := buyers.Draw(&s, seed)
		bought, err := b.Buy(&s)
		if err != nil {
			return takings{}, err
		}
		count[b.Kind]++
		t.byKind[b.Kind] += bought.Price
		t.all += bought.Price
		t.least = min(t.least, bought.Least)
	}
	for kind := range t.byKind {
		t.byKind[kind] /= count[kind]
	}
	t.all /= buyers.Population
	return t, nil
}

// licensesTable returns each style's takings, following the takings by the earlier rules.
func licensesTable() (string, error) {
	columns := []string{"style"}
	for _, kind := range buyers.Kinds() {
		columns = append(columns, kind.String())
	}
	table := report.NewTable(append(columns, "all", "lowest price")...)
	for _, style := range engine.Styles() {
		before := earlier[style]
		now, err := takingsOf(style)
		if err != nil {
			return "", fmt.Errorf("%s: %w", style, err)
		}
		change := func(from, to uint64) string { return report.Count(from) + " → " + report.Count(to) }
		cells := []string{string(style)}
		for _, kind := range buyers.Kinds() {
			cells = append(cells, change(before.byKind[kind], now.byKind[kind]))
		}
		table.Row(append(cells, change(before.all, now.all), change(before.least, now.least))...)
	}
	return table.String(), nil
}
