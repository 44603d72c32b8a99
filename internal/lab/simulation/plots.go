package simulation

import (
	"bytes"
	"html/template"
	"image/color"
	"maps"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/solution"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

const (
	lineWidth = vg.Length(1.6)
	// maxDrawn is the largest number of outcomes, and of frontier points, in a plot.
	maxDrawn = 1_500
)

// plots draws all pictures.
func (p *page) plots(r *runner) error {
	overTime := timePlot("Agreement over time, all strategies", "agreed sessions")
	addLine(overTime, report.Orange, points(r.stats.TotalOverTime()))
	var err error
	if p.OverTime, err = rendered(overTime); err != nil {
		return err
	}
	for at, entrant := range r.plan.Entrants {
		picture := timePlot(entrant.Name, "")
		addLine(picture, report.Blue, points(r.stats.Concession(at)))
		addLine(picture, report.Orange, points(r.stats.AgreementOverTime(at)))
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

// timePlot returns an empty plot of parts between 0 and 1 over the relative time.
func timePlot(title, y string) *plot.Plot {
	p := report.NewPlot(title, "relative time", y)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	return p
}

func points(curve []tournament.Point) (xys plotter.XYs) {
	for _, point := range curve {
		xys = append(xys, plotter.XY{X: point.Time.Float(), Y: point.Value.Float()})
	}
	return xys
}

// addLine adds a line. The limits of the axes stay.
func addLine(p *plot.Plot, paint color.Color, xys plotter.XYs) {
	if len(xys) == 0 {
		return
	}
	line, err := plotter.NewLine(xys)
	if err != nil {
		return // a point is not finite
	}
	line.Color, line.Width = paint, lineWidth
	p.Add(line)
}

// addPoints adds points whose radius depends on their number.
func addPoints(p *plot.Plot, paint color.Color, xys plotter.XYs, radius func(at int) vg.Length) {
	if len(xys) == 0 {
		return
	}
	scatter, err := plotter.NewScatter(xys)
	if err != nil {
		return // a point is not finite
	}
	scatter.GlyphStyleFunc = func(at int) draw.GlyphStyle {
		return draw.GlyphStyle{Color: paint, Radius: radius(at), Shape: draw.CircleGlyph{}}
	}
	p.Add(scatter)
}

// outcomePlot shows a scenario's outcomes, the Pareto frontier and the agreements. The area of an agreement's
// point grows with the number of sessions.
func outcomePlot(s *tournament.Scenario, played tournament.ScenarioPlot) *plot.Plot {
	of := func(o bargain.Outcome) plotter.XY {
		return plotter.XY{X: s.Preferences[0].Of(o).Float(), Y: s.Preferences[1].Of(o).Float()}
	}
	domain := s.Preferences[0].Domain()
	var outcomes, agreements, frontier plotter.XYs
	if s.Rules == nil { // with Haggle's rules all outcomes lie on the frontier
		for _, o := range drawn(domain.Size()) {
			outcomes = append(outcomes, of(o))
		}
	}
	for _, point := range thinned(s.Frontier()) {
		frontier = append(frontier, of(point.Outcome))
	}
	total, most := 0, 1
	var times []int
	for _, outcome := range slices.Sorted(maps.Keys(played.Agreements)) {
		count := played.Agreements[outcome]
		agreements, times = append(agreements, of(outcome)), append(times, count)
		total, most = total+count, max(most, count)
	}
	p := report.NewPlot(s.Name+": "+report.Counted(total, "agreement", ""),
		"utility of the first party", "utility of the second party")
	addPoints(p, report.Grey, outcomes, func(int) vg.Length { return 1 })
	addLine(p, report.Green, frontier)
	if s.Rules == nil { // between the points there are no outcomes
		addPoints(p, report.Green, frontier, func(int) vg.Length { return 1.5 })
	}
	addPoints(p, report.Orange, agreements, func(at int) vg.Length {
		return 1.5 + vg.Length(4*math.Sqrt(float64(times[at])/float64(most)))
	})
	return p
}

// drawn returns a domain's outcomes for a plot: all outcomes or, if the domain is large, a random sample.
func drawn(size uint64) []bargain.Outcome {
	outcomes, random := make([]bargain.Outcome, min(size, maxDrawn)), bargain.NewRandom(0, 0)
	for at := range outcomes {
		outcomes[at] = bargain.Outcome(at)
		if size > maxDrawn {
			outcomes[at] = bargain.Outcome(random.Below(size))
		}
	}
	return outcomes
}

// thinned returns the frontier points for a plot, evenly spaced and including both ends.
func thinned(frontier []solution.Point) []solution.Point {
	if len(frontier) <= maxDrawn {
		return frontier
	}
	kept := make([]solution.Point, maxDrawn)
	for at := range kept {
		kept[at] = frontier[at*(len(frontier)-1)/(maxDrawn-1)]
	}
	return kept
}
