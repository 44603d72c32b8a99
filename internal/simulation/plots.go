package simulation

import (
	"bytes"
	"fmt"
	"html/template"
	"image/color"
	"maps"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/haggle-protocol/haggle/internal/report"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

const (
	lineWidth = vg.Length(1.6)
	// maxDrawn is the number of outcomes that a plot shows; of larger domains it shows a part.
	maxDrawn = 1_500
)

// plots draws all pictures.
func (p *page) plots(r *runner) error {
	overTime := timePlot("Agreement over time, all strategies", "agreed sessions")
	addLine(overTime, "", report.Orange, points(r.stats.TotalOverTime()))
	var err error
	if p.OverTime, err = rendered(overTime); err != nil {
		return err
	}
	for at, entrant := range r.plan.Entrants {
		picture := timePlot(entrant.Name, "")
		addLine(picture, "level of own offers", report.Blue, points(r.stats.Concession(at)))
		addLine(picture, "agreed sessions", report.Orange, points(r.stats.AgreementOverTime(at)))
		html, err := rendered(picture)
		if err != nil {
			return err
		}
		p.Concessions = append(p.Concessions, html)
	}
	for _, played := range r.stats.Plots() {
		scenario, err := r.plan.Scenarios.Scenario(played.Scenario)
		if err != nil {
			return err
		}
		html, err := rendered(outcomePlot(scenario, played))
		if err != nil {
			return err
		}
		p.Outcomes = append(p.Outcomes, html)
	}
	return nil
}

func rendered(p *plot.Plot) (template.HTML, error) {
	var out bytes.Buffer
	err := report.WriteSVG(&out, p)
	return template.HTML(out.String()), err // the canvas escapes the texts
}

// timePlot returns an empty plot of parts from 0 to 1 over the relative time.
func timePlot(title, y string) *plot.Plot {
	p := report.NewPlot(title, "relative time", y)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	p.Legend.Top = true
	return p
}

func points(curve []tournament.Point) (xys plotter.XYs) {
	for _, point := range curve {
		xys = append(xys, plotter.XY{X: point.Time.Float(), Y: point.Value.Float()})
	}
	return xys
}

// addLine adds a line, with its name if there is one. The limits of the axes stay.
func addLine(p *plot.Plot, name string, paint color.Color, xys plotter.XYs) {
	if len(xys) == 0 {
		return
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return // a point is not finite
	}
	line.Color, line.Width = paint, lineWidth
	p.Add(line)
	if name != "" {
		p.Legend.Add(name, line)
	}
}

func addPoints(p *plot.Plot, name string, paint color.Color, radius vg.Length, xys plotter.XYs) {
	if len(xys) == 0 {
		return
	}
	scatter, err := plotter.NewScatter(xys)
	if err != nil {
		return // a point is not finite
	}
	scatter.GlyphStyle = draw.GlyphStyle{Color: paint, Radius: radius, Shape: draw.CircleGlyph{}}
	p.Add(scatter)
	p.Legend.Add(name, scatter)
}

// outcomePlot shows a scenario's outcomes, its Pareto frontier and the agreements.
func outcomePlot(s *tournament.Scenario, played tournament.ScenarioPlot) *plot.Plot {
	p := report.NewPlot(s.Name, "utility of the first party", "utility of the second party")
	p.Y.Min = 0
	of := func(o bargain.Outcome) plotter.XY {
		return plotter.XY{X: s.Preferences[0].Of(o).Float(), Y: s.Preferences[1].Of(o).Float()}
	}
	size := s.Preferences[0].Domain().Size()
	stride := (size-1)/maxDrawn + 1
	var outcomes, agreements plotter.XYs
	for number := uint64(0); number < size; number += stride {
		outcomes = append(outcomes, of(bargain.Outcome(number)))
		if number > size-1-min(stride, size-1) {
			break // the next number could overflow
		}
	}
	times := 0
	for _, outcome := range slices.Sorted(maps.Keys(played.Agreements)) {
		agreements = append(agreements, of(outcome))
		times += played.Agreements[outcome]
	}
	if s.Preferences[0].Domain().Len() > 1 { // the outcomes of one price lie on the frontier
		addPoints(p, "outcomes", report.Grey, 1, outcomes)
	}
	addLine(p, "Pareto frontier", report.Green, frontier(outcomes))
	addPoints(p, fmt.Sprintf("%d agreements", times), report.Orange, 2.5, agreements)
	p.Legend.Top = false
	p.Legend.Left = true
	return p
}

// frontier returns the outcomes that no other one dominates, by the first utility.
func frontier(outcomes plotter.XYs) (best plotter.XYs) {
	sorted := slices.Clone(outcomes)
	slices.SortFunc(sorted, func(a, b plotter.XY) int {
		switch {
		case a.X > b.X || a.X == b.X && a.Y > b.Y:
			return -1
		case a == b:
			return 0
		}
		return 1
	})
	for _, outcome := range sorted {
		if len(best) == 0 || outcome.Y > best[len(best)-1].Y {
			best = append(best, outcome)
		}
	}
	return best
}
