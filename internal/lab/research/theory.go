package main

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/solution"
)

// addLine adds a line with a name in the legend.
func addLine(p *plot.Plot, name string, colour color.Color, points plotter.XYs) error {
	line, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	line.Color, line.Width = colour, vg.Points(1.5)
	p.Add(line)
	p.Legend.Add(name, line)
	return nil
}

// addMarks adds points with a name in the legend.
func addMarks(
	p *plot.Plot, name string, colour color.Color, shape draw.GlyphDrawer, points plotter.XYs,
) error {
	marks, err := plotter.NewScatter(points)
	if err != nil {
		return err
	}
	marks.Color, marks.Shape, marks.Radius = colour, shape, vg.Points(3.5)
	p.Add(marks)
	p.Legend.Add(name, marks)
	return nil
}

// drawFrontier draws the division of 1 between a party with the utility x and a party with the utility
// sqrt(1-x).
func drawFrontier() (*plot.Plot, error) {
	const steps = 1_000
	var points []solution.Point
	for share := range int64(steps + 1) {
		x := fixed.Ratio(share, steps)
		points = append(points, solution.Point{Outcome: bargain.Outcome(share),
			Utilities: [2]fixed.Number{x, fixed.Pow(fixed.One-x, fixed.One/2)}})
	}
	problem := solution.NewFinite([2]fixed.Number{}, points)
	p := report.NewPlot("Solutions of a division with one risk-averse party", "utility of the first party: x",
		"of the second: sqrt(1-x)")
	p.Legend.Left, p.Legend.XOffs = true, vg.Millimeter*3
	if err := addLine(p, "Pareto frontier", report.Grey, utilities(problem.Frontier())); err != nil {
		return nil, err
	}
	for _, mark := range []struct {
		name   string
		points []solution.Point
		colour color.Color
		shape  draw.GlyphDrawer
	}{
		{"Kalai and Kalai-Smorodinsky, x = 0.618", problem.Kalai(), report.Green, draw.BoxGlyph{}},
		{"Nash, x = 2/3", problem.Nash(), report.Blue, draw.CircleGlyph{}},
		{"maximum welfare, x = 3/4", problem.Welfare(), report.Orange, draw.TriangleGlyph{}},
	} {
		if err := addMarks(p, mark.name, mark.colour, mark.shape, utilities(mark.points[:1])); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func utilities(points []solution.Point) (found plotter.XYs) {
	for _, point := range points {
		found = append(found, plotter.XY{X: point.Utilities[0].Float(), Y: point.Utilities[1].Float()})
	}
	return found
}

// factors lists the table's pairs of discount factors: first the proposer's, then the other party's.
var factors = [][2]fixed.Number{
	{fixed.One * 9 / 10, fixed.One * 9 / 10}, {fixed.One * 95 / 100, fixed.One * 95 / 100},
	{fixed.One * 9 / 10, fixed.One * 8 / 10}, {fixed.One * 8 / 10, fixed.One * 9 / 10},
	{fixed.One / 2, fixed.One / 2},
}

func rubinsteinTable() (string, error) {
	table := report.NewTable("d1, d2", "1 round", "2 rounds", "3 rounds", "10 rounds", "11 rounds", "no limit")
	for _, d := range factors {
		cells := []string{d[0].String() + ", " + d[1].String()}
		for _, rounds := range []int{1, 2, 3, 10, 11} {
			share, _ := game.FiniteRubinstein(d[0], d[1], rounds)
			cells = append(cells, decimal(share.Float(), 4))
		}
		share, _ := game.Rubinstein(d[0], d[1])
		table.Row(append(cells, decimal(share.Float(), 4))...)
	}
	return table.String(), nil
}

func decimal(number float64, digits int) string {
	text := strconv.FormatFloat(number, 'f', digits, 64)
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-") // rounded to zero
	}
	return text
}

// drawRubinstein draws the finite game's shares and their limits.
func drawRubinstein() (*plot.Plot, error) {
	const rounds = 40
	p := report.NewPlot("The first proposer's share", "rounds", "share of 1")
	p.Legend.Top = true
	for at, d := range [][2]fixed.Number{factors[0], factors[2]} {
		var finite, limit plotter.XYs
		infinite, _ := game.Rubinstein(d[0], d[1])
		for round := 1; round <= rounds; round++ {
			share, _ := game.FiniteRubinstein(d[0], d[1], round)
			finite = append(finite, plotter.XY{X: float64(round), Y: share.Float()})
			limit = append(limit, plotter.XY{X: float64(round), Y: infinite.Float()})
		}
		colour := []color.Color{report.Blue, report.Orange}[at]
		name := fmt.Sprintf("d1 = %s, d2 = %s", d[0], d[1])
		if err := addMarks(p, name, colour, draw.CircleGlyph{}, finite); err != nil {
			return nil, err
		}
		if err := addLine(p, name+": no limit", colour, limit); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// efficiency returns the realized share of the gains from trade if value and cost are independent and uniform
// on [0, 1] and the parties trade only if the value exceeds the cost by a margin.
func efficiency(margin float64) float64 { return (1 - margin) * (1 - margin) * (1 + 2*margin) }

func drawEfficiency() (*plot.Plot, error) {
	const steps = 100
	p := report.NewPlot("Gains from trade that are realized", "least difference of value and cost for a trade",
		"share of all gains")
	p.Legend.Top = true
	var curve plotter.XYs
	for step := range steps + 1 {
		margin := float64(step) / steps
		curve = append(curve, plotter.XY{X: margin, Y: efficiency(margin)})
	}
	if err := addLine(p, "values and costs uniform on [0, 1]", report.Grey, curve); err != nil {
		return nil, err
	}
	err := addMarks(p, "no mechanism that the theorem allows is better: 1/4, 27/32", report.Blue,
		draw.CircleGlyph{}, plotter.XYs{{X: .25, Y: efficiency(.25)}})
	return p, err
}
