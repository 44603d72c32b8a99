package main

import (
	_ "embed" // the section
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/haggle-protocol/haggle/internal/lab/report"
)

//go:embed engine.md.tmpl
var engineText string

// The benchmarks of the bargaining engine. A session consists of sessionSteps steps with two offers each.
const (
	engineSessions = "Negotiation"
	engineTables   = "Tables"
	sessionSteps   = 100
)

// sessions returns the section of the page about the bargaining engine.
func (r *benchmarks) sessions() (string, error) {
	sessions := report.NewTable("", "µs", "ns for each offer", "allocations", "bytes allocated")
	tables := report.NewTable("", "µs")
	runs := 0
	for _, row := range r.of(engineSessions) {
		runs = len(row.runs)
		sessions.Row(words(row.name), tenths(row.median()/nsPerMicrosecond),
			whole(row.median()/(2*sessionSteps)), whole(row.values["allocs/op"]), whole(row.values["B/op"]))
	}
	for _, row := range r.of(engineTables) {
		tables.Row(words(row.name), tenths(row.median()/nsPerMicrosecond))
	}
	if runs == 0 {
		return "", fmt.Errorf("%s is missing", engineSessions)
	}
	return report.Fill(engineText, nil, map[string]any{
		"sessions": sessions.String(), "tables": tables.String(), "runs": runs,
		"machine": r.machine, "cpu": r.cpu,
	})
}

// words returns a benchmark's name as words.
func words(name string) string { return strings.ReplaceAll(name, "_", " ") }

// engineSection is the section in a page: to the next heading, or to the end.
var engineSection = regexp.MustCompile(`(?s)## A session of the bargaining engine\n.*?(\n## |\z)`)

// replaceSection returns a page with another section about the bargaining engine.
func replaceSection(page, section string) (string, error) {
	at := engineSection.FindStringSubmatchIndex(page)
	if at == nil {
		return "", errors.New("the page has no section about the bargaining engine: write the whole page first")
	}
	return page[:at[0]] + section + page[at[2]:], nil
}
