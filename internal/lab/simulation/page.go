package simulation

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"slices"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// page is the page's content.
type page struct {
	Report                 *Report
	Strategies, Scenarios  string
	Seed                   uint64
	Sessions, Of           string
	Scores                 []pageScore
	Names                  []string
	Matrix                 []pageRow
	OverTime               template.HTML
	Concessions, Outcomes  []template.HTML
	Repetitions            string
	BarLeast, BarMost      string
	Zero                   float64
	SelfPlay, HasIntervals bool
	HasOptimal             bool
}

// pageScore is a row of the table of scores. Left, Middle and Width place the interval, in percent.
type pageScore struct {
	Rank                                 int
	Name, Advantage, Margin, Value, Rate string
	Nash, Pareto, Sessions               string
	HasMargin                            bool
	// Behind is empty for the best strategy, or if there is no interval. IsDistinct reports whether the
	// interval separates the strategy from the best.
	Behind              string
	IsDistinct          bool
	Left, Middle, Width float64
}

type pageRow struct {
	Name  string
	Cells []pageCell
}

// pageCell is one strategy's score against another. Shade is a class between 0 and 10.
type pageCell struct {
	Text, Rate string
	Shade      int
}

// decimals writes a number with three decimals.
func decimals(n fixed.Number) string { return fmt.Sprintf("%.3f", n.Float()) }

// orDash writes a number that can be missing.
func orDash(n *fixed.Number) string {
	if n == nil {
		return "–"
	}
	return decimals(*n)
}

func percent(n fixed.Number) string { return fmt.Sprintf("%.1f %%", 100*n.Float()) }

// page returns the page as HTML, with all pictures inside.
func (r *runner) page(done *Report) ([]byte, error) {
	p := page{
		Report: done, Strategies: report.Counted(len(r.plan.Entrants), "strategy", "strategies"),
		Scenarios: report.Counted(r.plan.Scenarios.Len(), "scenario", ""), Seed: r.Seed,
		Sessions: report.Counted(done.Sessions, "session", ""), Of: report.Count(done.Of), SelfPlay: r.SelfPlay,
		HasOptimal: slices.ContainsFunc(r.plan.Entrants, isOptimal),
	}
	if r.Repetitions > 1 {
		p.Repetitions = report.Count(r.Repetitions)
	}
	p.scores(done)
	for at, entrant := range r.plan.Entrants {
		p.Names = append(p.Names, entrant.Name)
		row := pageRow{Name: entrant.Name}
		for other := range r.plan.Entrants {
			cell := pageCell{Text: "–"}
			if advantage, rate, ok := r.stats.Against(at, other); ok {
				cell.Text, cell.Rate = fmt.Sprintf("%.2f", advantage.Float()), percent(rate)
				cell.Shade = int(advantage.Clamp(0, fixed.One) * 10 / fixed.One)
			}
			row.Cells = append(row.Cells, cell)
		}
		p.Matrix = append(p.Matrix, row)
	}
	if err := p.plots(r); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err := pageTemplate.Execute(&out, p)
	return out.Bytes(), err
}

// scores fills the table of scores. The bars use a common scale, which includes zero.
func (p *page) scores(done *Report) {
	least, most := fixed.Number(0), fixed.One/100
	for _, s := range done.Scores {
		least, most = min(least, s.Advantage-s.Margin), max(most, s.Advantage+s.Margin)
	}
	position := func(n fixed.Number) float64 { return 100 * (n - least).Div(most-least).Float() }
	p.Zero, p.BarLeast, p.BarMost = position(0), decimals(least), decimals(most)
	for i, s := range done.Scores {
		left, behind := position(s.Advantage-s.Margin), ""
		if s.HasMargin && i > 0 {
			behind = decimals(s.Behind) + " ± " + decimals(s.BehindMargin)
		}
		p.HasIntervals = p.HasIntervals || s.HasMargin
		p.Scores = append(p.Scores, pageScore{
			Rank: i + 1, Name: s.Name, Advantage: decimals(s.Advantage), Margin: decimals(s.Margin),
			HasMargin: s.HasMargin, Behind: behind, IsDistinct: s.Behind > s.BehindMargin, Value: decimals(s.Value), Rate: percent(s.AgreementRate),
			Nash: orDash(s.NashDistance), Pareto: orDash(s.ParetoDistance),
			Sessions: report.Count(s.Sessions), Left: left, Middle: position(s.Advantage),
			Width: position(s.Advantage+s.Margin) - left,
		})
	}
}
