package faults_test

import (
	"bytes"
	_ "embed" // the page
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/tests/faults/proxy"
)

// results holds a run's results.
type results struct {
	*audit
	counts proxy.Counts
	// log counts the processes' log messages by text.
	log map[string]int
	// elsewhere counts the transactions that another process than their sender's has resolved.
	elsewhere int
}

// variableParts replace the parts of log messages that vary between occurrences (node, error, lag, duration),
// so that such messages are counted together.
var variableParts = []struct {
	pattern     *regexp.Regexp
	replacement string
}{
	{regexp.MustCompile(`^node \S+: (no answer yet)$`), "node: $1"},
	{regexp.MustCompile(`^node \S+: (\w+): .*$`), "node: error of $1"},
	{regexp.MustCompile(`^events: (?:.*: )??(get\w+): .*$`), "events: error of $1"},
	{regexp.MustCompile(`behind by \d+ slots`), "behind by some slots"},
	{regexp.MustCompile(`^(clock: the machine's is) \S+ (ahead|behind)`), "$1 $2"},
}

func newResults(t *testing.T, a *audit, counts proxy.Counts) *results {
	s := &results{audit: a, counts: counts, log: make(map[string]int)}
	for host := range a.plan.Hosts {
		content, err := os.ReadFile(a.plan.logFile(host))
		require.NoError(t, err)
		for line := range bytes.Lines(content) {
			var noted struct{ Msg, Action, Outcome string }
			if json.Unmarshal(line, &noted) != nil {
				continue // truncated by a kill
			}
			if noted.Msg == resolvedElsewhere {
				s.elsewhere++
			}
			for _, part := range variableParts {
				noted.Msg = part.pattern.ReplaceAllString(noted.Msg, part.replacement)
			}
			switch {
			case noted.Outcome != "":
				s.log[noted.Msg+": "+noted.Outcome]++
			case noted.Action != "":
				s.log[noted.Msg+": "+noted.Action]++
			default:
				s.log[noted.Msg]++
			}
		}
	}
	return s
}

//go:embed page.md.tmpl
var pageText string

// page returns the report.
func (s *results) page(t *testing.T) string {
	faults := report.NewTable("fault", "times")
	for _, kind := range proxy.Kinds() {
		faults.Row(string(kind), report.Count(s.counts.Faults[kind]))
	}
	for _, lie := range timeLies {
		faults.Row("lie: "+string(lie), report.Count(s.counts.Lies[lie]))
	}
	logged := report.NewTable("message", "times")
	for _, noted := range slices.Sorted(maps.Keys(s.log)) {
		logged.Row(noted, report.Count(s.log[noted]))
	}
	endings, moves := map[ending]int{}, 0
	for _, n := range s.plan.Negotiations {
		endings[n.Script.Ending]++
		moves += len(n.Script.moves())
	}
	anytime, sending := s.workers.kills()
	page, err := report.Fill(pageText, nil, map[string]any{
		"negotiations": s.scale.negotiations, "buyers": s.scale.buyers, "sellers": s.scale.sellers,
		"processes": s.scale.processes, "sharing": s.plan.sharing(), "seed": s.scale.seed,
		"chain": s.net.Chain.Kind, "proxies": proxies, "kills": anytime + sending, "anytime": anytime, "sending": sending,
		"counts": s.counts, "faulty": percent * s.counts.FaultyShare(), "faults": faults, "logged": logged,
		"accepted": endings[accepted], "rejected": endings[rejected], "expired": endings[expired], "moves": moves,
		"executed": s.executed, "failed": s.failed, "events": s.events, "complete": s.complete,
		"late": s.listeners.late, "repeated": s.repeated, "secondEscrows": s.secondEscrows,
		"elsewhere": s.elsewhere, "findings": len(s.findings),
	})
	require.NoError(t, err)
	return page
}
