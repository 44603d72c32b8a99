package main

import (
	"cmp"
	_ "embed" // the page
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/haggle-protocol/haggle/internal/lab/report"
)

//go:embed page.md.tmpl
var pageText string

// page returns the report in Markdown. It returns an error if a benchmark for comparison is missing.
func (r *benchmarks) page() (string, error) {
	return report.Fill(pageText, template.FuncMap{
		"comparison": r.comparison, "beyondRequests": r.beyondRequests, "subscriptions": r.subscriptions, "chains": r.chains,
		"sessions": r.sessions,
	}, map[string]string{"machine": r.machine, "cpu": r.cpu, "commands": strings.Join(r.commands, "\n")})
}

// comparison returns a table of <name>/haggle and <name>/anchor-go.
func (r *benchmarks) comparison(group string) string {
	table := report.NewTable("", "ns", "allocations", "bytes allocated", "anchor-go: ns", "allocations",
		"times as fast")
	for _, ours := range r.of(group) {
		name, ok := strings.CutSuffix(ours.name, "/haggle")
		if !ok {
			continue
		}
		theirNs, theirAllocations, ratio := "–", "–", "–"
		if theirs := r.find(group, name+"/anchor-go"); theirs != nil {
			theirNs, theirAllocations = whole(theirs.ns()), whole(theirs.values["allocs/op"])
			ratio = whole(theirs.ns() / ours.ns())
		}
		table.Row("`"+name+"`", tenths(ours.ns()), whole(ours.values["allocs/op"]), whole(ours.values["B/op"]),
			theirNs, theirAllocations, ratio)
	}
	return table.String()
}

// requestsAlone is the row for comparison.
const requestsAlone = "requests_alone"

const nsPerMicrosecond = 1_000

// beyondRequests returns a table of the times beyond the request times alone.
func (r *benchmarks) beyondRequests(group string) (string, error) {
	alone := r.find(group, requestsAlone)
	if alone == nil {
		return "", fmt.Errorf("%s/%s is missing", group, requestsAlone)
	}
	table := report.NewTable("", "µs", "beyond the requests: µs", "allocations", "bytes allocated")
	rows := r.of(group)
	slices.SortStableFunc(rows, func(a, b *result) int { return cmp.Compare(a.ns(), b.ns()) })
	for _, row := range rows {
		beyond := "–"
		if !strings.HasSuffix(row.name, "_alone") {
			beyond = whole((row.ns() - alone.ns()) / nsPerMicrosecond)
		}
		table.Row(words(row.name), tenths(row.ns()/nsPerMicrosecond), beyond,
			whole(row.values["allocs/op"]), whole(row.values["B/op"]))
	}
	return table.String(), nil
}

func (r *benchmarks) subscriptions(group string) string {
	table := report.NewTable("subscriptions", "ms to the event", "bytes each", "ms until all are restored")
	for _, row := range r.of(group) {
		table.Row(row.name, whole(row.ns()/nsPerMillisecond), whole(row.values["B/subscription"]),
			whole(row.values["ms/reconnect"]))
	}
	return table.String()
}

// chains compares an in-process chain with a validator.
func (r *benchmarks) chains(group string) (string, error) {
	table := report.NewTable("", "in the process: ms", "validator: ms", "times as fast")
	for _, row := range []struct{ name, text string }{
		{"start", "start, until it confirms blocks"},
		{"answer", "answer to a transfer, with its simulation"},
		{"confirmation", "transfer, until it is confirmed"},
	} {
		ours, theirs := r.find(group, row.name+"/process"), r.find(group, row.name+"/validator")
		if ours == nil || theirs == nil {
			return "", fmt.Errorf("%s/%s is missing for a kind of chain", group, row.name)
		}
		table.Row(row.text, tenths(ours.ns()/nsPerMillisecond), tenths(theirs.ns()/nsPerMillisecond), whole(theirs.ns()/ours.ns()))
	}
	return table.String(), nil
}

const nsPerMillisecond = 1_000_000

func whole(value float64) string { return fmt.Sprintf("%.0f", value) }

func tenths(value float64) string { return fmt.Sprintf("%.1f", value) }
