package main

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/tests/negmas"
)

//go:embed page.md.tmpl
var pageText string

// row is a session measured in both libraries.
type row struct {
	session negmas.RecordedSession
	engine  negmas.Answer
	isEqual bool
	theirs  speed
	ours    speed
}

func (r *row) whole() float64 { return float64(r.theirs.whole) / float64(r.ours.whole) }

func (r *row) run() float64 { return float64(r.theirs.run) / float64(r.ours.run) }

// page returns the text for docs/NEGMAS.md.
func page(recorded *negmas.Recorded, all negmas.Replay, rows []*row, curves string) (string, error) {
	whole, run := ratios(rows, (*row).whole), ratios(rows, (*row).run)
	values := map[string]any{
		"machine": report.Machine(), "python": recorded.Python, "version": recorded.Version,
		"equal": report.Count(all.Same()), "all": report.Count(len(all)), "scenarios": len(negmas.Settings()),
		"summary": summary(all, rows), "timed": len(rows), "measurements": measurements,
		"shortest": fmt.Sprintf("%d ms", shortest.Milliseconds()), "curves": curves, "seeds": recorded.Seeds, "sessions": sessions(rows),
		"wholeRange": span(whole), "wholeMedian": times(middle(whole)), "wholeOver": over(whole),
		"runRange": span(run), "runMedian": times(middle(run)), "runOver": over(run),
	}
	return report.Fill(pageText, nil, values)
}

func summary(all negmas.Replay, rows []*row) string {
	table := report.NewTable("scenario", "steps", "sessions", "same result", "agreements",
		"times as fast, with construction", "median", "without", "median")
	for _, setting := range negmas.Settings() {
		played := all.In(setting.Name)
		var own []*row
		for _, r := range rows {
			if r.session.Scenario == setting.Name {
				own = append(own, r)
			}
		}
		whole, run := ratios(own, (*row).whole), ratios(own, (*row).run)
		table.Row(fmt.Sprintf("%s: %s", setting.Name, setting.About), report.Count(setting.Steps),
			report.Count(len(played)), report.Count(played.Same()), report.Count(played.Agreements()),
			span(whole), times(middle(whole)), span(run), times(middle(run)))
	}
	return table.String()
}

func sessions(rows []*row) string {
	table := report.NewTable("scenario, strategies", "agreement", "steps", "utilities", "same",
		"NegMAS ms", "engine µs", "times", "NegMAS ms, without", "engine µs", "times")
	for _, r := range rows {
		theirs := r.session.Answers[0]
		same := "yes"
		switch {
		case !r.isEqual:
			same = "no"
		case len(r.session.Answers) > 1:
			theirs, same = r.engine, fmt.Sprintf("one of %d", len(r.session.Answers))
		}
		cell := func(of func(negmas.Answer) string) string {
			if r.isEqual {
				return of(theirs)
			}
			return of(theirs) + "; engine: " + of(r.engine)
		}
		table.Row(fmt.Sprintf("%s: %s, %s", r.session.Scenario, r.session.First, r.session.Second),
			cell(agreement), cell(func(a negmas.Answer) string { return report.Count(a.Step) }),
			cell(func(a negmas.Answer) string { return fmt.Sprintf("%.4g, %.4g", a.Utilities[0], a.Utilities[1]) }),
			same, milliseconds(r.theirs.whole), microseconds(r.ours.whole), times(r.whole()),
			milliseconds(r.theirs.run), microseconds(r.ours.run), times(r.run()))
	}
	return table.String()
}

func agreement(a negmas.Answer) string {
	if a.Agreement == nil {
		return "none"
	}
	return strings.Join(a.Agreement, " ")
}

func ratios(rows []*row, of func(*row) float64) []float64 {
	var list []float64
	for _, r := range rows {
		list = append(list, of(r))
	}
	slices.Sort(list)
	return list
}

func middle(sorted []float64) float64 { return sorted[len(sorted)/2] }

func span(sorted []float64) string { return times(sorted[0]) + " to " + times(sorted[len(sorted)-1]) }

func over(sorted []float64) (count int) {
	for _, ratio := range sorted {
		if ratio >= 1000 {
			count++
		}
	}
	return count
}

// times returns a ratio with two digits, rounded down.
func times(ratio float64) string {
	n, unit := int64(ratio), int64(1)
	for n/unit >= 100 {
		unit *= 10
	}
	return report.Count(n / unit * unit)
}

func milliseconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1e3) }

func microseconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()*1e6) }
