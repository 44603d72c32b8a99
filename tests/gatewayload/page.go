package gatewayload

import (
	_ "embed" // the page
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/internal/lab/report"
)

// Result contains a run's measurements and findings.
type Result struct {
	Options
	// Findings lists differences between the responses, the database and the audit log, and limits that do
	// not hold. Only the first are described. In a successful run it is empty.
	Findings []string

	machine, version string
	script           *script
	measured         map[bool]*measurements
	limits           limitResults
	// refusals is the number of creations refused by a limit during the measurements.
	refusals                     int
	rows, comparedRows, answered rows
	verified                     verified
}

// measurements contains a mode's windows.
type measurements struct{ gateway, pgbench []window }

// ratio compares the gateway with pgbench.
type ratio struct{ rate, median, p99 float64 }

func (r ratio) cells() []string {
	return []string{hundredths(r.rate), hundredths(r.median), hundredths(r.p99)}
}

func hundredths(value float64) string { return fmt.Sprintf("%.2f", value) }

func together(windows []window) (all window) {
	for _, w := range windows {
		all.merge(w)
		all.lasted += w.lasted
		all.used = all.used.plus(w.used)
		all.perSecond += w.perSecond / float64(len(windows))
	}
	return all
}

func (m *measurements) ratio() ratio { return compare(together(m.gateway), together(m.pgbench)) }

func compare(gateway, pgbench window) ratio {
	return ratio{
		gateway.rate() / pgbench.rate(), float64(gateway.quantile(50)) / float64(pgbench.quantile(50)),
		float64(gateway.quantile(99)) / float64(pgbench.quantile(99)),
	}
}

func (w *window) quantile(percent int) time.Duration { return report.Quantile(w.sorted(), percent) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// perRequest returns each part's processor time per request or transaction, in milliseconds.
func (w *window) perRequest() (sender, gateways, server float64) {
	count := time.Duration(max(w.count(), 1))
	return milliseconds(w.used.sender / count), milliseconds(w.used.gateways / count),
		milliseconds(w.used.server / count)
}

// String describes the processor time per request.
func (w *window) String() string {
	sender, gateways, server := w.perRequest()
	return fmt.Sprintf("processor ms per request: sender %.2f, gateway %.2f, PostgreSQL %.2f", sender, gateways,
		server)
}

// processorTable shows the processor time per request or transaction.
func (r *Result) processorTable() string {
	t := report.NewTable("", "sender", "gateway", "PostgreSQL", "sum")
	for _, mode := range modes {
		m := r.measured[mode.fsync]
		for _, row := range []struct {
			name    string
			windows []window
		}{{"gateway", m.gateway}, {"pgbench", m.pgbench}} {
			all := together(row.windows)
			sender, gateways, server := all.perRequest()
			cells := []string{row.name + ": " + mode.title}
			for _, part := range []float64{sender, gateways, server, sender + gateways + server} {
				cells = append(cells, hundredths(part))
			}
			t.Row(cells...)
		}
	}
	return t.String()
}

// The target: at least this part of pgbench's rate, and no more than this multiple of pgbench's 99th
// percentile.
const (
	leastRate = 0.6
	mostP99   = 3
)

// Missed returns the targets that the run has missed, one line for each.
func (r *Result) Missed() (missed []string) {
	for _, mode := range modes {
		got := r.measured[mode.fsync].ratio()
		if got.rate < leastRate {
			missed = append(missed, fmt.Sprintf("%s: %.2f of pgbench's rate, less than %.1f", mode.title, got.rate,
				leastRate))
		}
		if got.p99 > mostP99 {
			missed = append(missed, fmt.Sprintf("%s: %.1f times pgbench's 99th percentile, more than %d", mode.title,
				got.p99, mostP99))
		}
	}
	return missed
}

//go:embed page.md.tmpl
var pageText string

// Page returns the report in Markdown.
func (r *Result) Page() string {
	sections := []map[string]any{}
	for _, mode := range modes {
		m := r.measured[mode.fsync]
		sections = append(sections, map[string]any{
			"title": mode.title, "windows": windowTable(m), "operations": operationTable(m),
		})
	}
	page, err := report.Fill(pageText, nil, map[string]any{
		"options": r.Options, "machine": r.machine, "version": r.version, "findings": r.Findings,
		"missed": r.Missed(), "sections": sections, "summary": r.summaryTable(),
		"seconds":    int(r.Lasting.Seconds()),
		"statements": r.statementTable(), "processor": r.processorTable(), "rows": r.rowTable(),
		"limits":   r.limitTable(),
		"verified": r.verified, "leastRate": leastRate, "mostP99": mostP99, "refusals": r.refusals,
	})
	if err != nil {
		panic(err) // the template does not fit the values
	}
	return page
}

func (r *Result) summaryTable() string {
	t := report.NewTable("", "gateway, per second", "pgbench, per second", "rate, times", "median, times",
		"p99, times")
	for _, mode := range modes {
		m := r.measured[mode.fsync]
		gateway, pgbench := together(m.gateway), together(m.pgbench)
		t.Row(slices.Concat([]string{mode.title, fmt.Sprintf("%.0f", gateway.rate()),
			fmt.Sprintf("%.0f", pgbench.rate())}, m.ratio().cells())...)
	}
	return t.String()
}

var comparison = []string{
	"gateway, per second", "median ms", "p99 ms", "pgbench, per second", "median ms", "p99 ms", "rate, times",
	"median, times", "p99, times",
}

func comparisonCells(gateway, pgbench window) (cells []string) {
	for _, w := range []window{gateway, pgbench} {
		cells = append(cells, fmt.Sprintf("%.0f", w.rate()))
		cells = append(cells, w.latencies()...)
	}
	return append(cells, compare(gateway, pgbench).cells()...)
}

// latencies returns the median and the 99th percentile in milliseconds.
func (w *window) latencies() (cells []string) {
	for _, percent := range []int{50, 99} {
		cells = append(cells, fmt.Sprintf("%.1f", milliseconds(w.quantile(percent))))
	}
	return cells
}

func windowTable(m *measurements) string {
	t := report.NewTable(slices.Concat([]string{"measurement"}, comparison)...)
	for at := range m.gateway {
		t.Row(slices.Concat([]string{fmt.Sprint(at + 1)}, comparisonCells(m.gateway[at], m.pgbench[at]))...)
	}
	t.Row(slices.Concat([]string{"all"}, comparisonCells(together(m.gateway), together(m.pgbench)))...)
	return t.String()
}

func operationTable(m *measurements) string {
	t := report.NewTable("", "requests", "median ms", "p99 ms", "transactions", "median ms", "p99 ms",
		"median, times", "p99, times")
	gateway, pgbench := together(m.gateway), together(m.pgbench)
	for at, name := range operationNames {
		var cells []string
		var parts [2]window
		for side, w := range []window{gateway, pgbench} {
			parts[side].took[at] = w.took[at]
			cells = append(cells, report.Count(parts[side].count()))
			cells = append(cells, parts[side].latencies()...)
		}
		ratios := []string{"–", "–"}
		if parts[0].count() > 0 && parts[1].count() > 0 {
			ratios = compare(parts[0], parts[1]).cells()[1:] // parts lack a rate
		}
		t.Row(slices.Concat([]string{name}, cells, ratios)...)
	}
	return t.String()
}

// statementTable shows each step's number of statements.
func (r *Result) statementTable() string {
	t := report.NewTable("step", "statements of the transaction, with BEGIN and COMMIT", "further statements of the gateway")
	for at, s := range sequence {
		t.Row(fmt.Sprintf("%d: %s", at+1, operationNames[s.operation]), report.Count(r.script.statements[at]),
			report.Count(r.script.others[at]))
	}
	return t.String()
}

func (r *Result) rowTable() string {
	t := report.NewTable("", "in the database", "expected from the answers")
	for _, row := range []struct {
		name       string
		have, want int
	}{
		{"negotiations", r.rows.negotiations, r.answered.negotiations},
		{"actions in rounds", r.rows.rounds, r.answered.rounds},
		{"entries of the audit log", r.rows.entries, r.answered.entries},
		{"idempotency keys", r.rows.keys, r.answered.keys},
	} {
		t.Row(row.name, report.Count(row.have), report.Count(row.want))
	}
	return t.String()
}

func (r *Result) limitTable() string {
	t := report.NewTable("limit", "requests", "created", "429")
	for _, row := range []struct {
		name string
		try  limitTry
	}{
		{fmt.Sprintf("%d negotiations of a client in an hour, %d at once of each of %d clients",
			negotiationsPerHour, perClient, limitTries), r.limits.hour},
		{fmt.Sprintf("%d open negotiations of a publisher, %d at once with each of %d publishers", openPerPublisher,
			atOnce, limitTries), r.limits.open},
	} {
		t.Row(row.name, report.Count(row.try.sent), report.Count(row.try.created), report.Count(row.try.refused))
	}
	return t.String()
}

// Write writes the page to a file.
func (r *Result) Write(path string) error { return os.WriteFile(path, []byte(r.Page()), 0o644) }
