package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
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

func (s *results) page() string {
	var page strings.Builder
	anytime, sending := s.workers.kills()
	fmt.Fprintf(&page, `# Faults

Written by %s. %s negotiations by %s buyers and %s sellers on the SDK's agent runtime, in %s
processes, each with a journal; %s of them share it with another process. Between them and a local
chain (%s) are %d proxies that inject faults. One of them lags behind; another lies about block heights, so
that transactions which can still execute seem to have expired. Seed %d.

## Injected faults

%s HTTP requests, of which %.1f %% had a fault; %s WebSocket connections, %s subscriptions, %s
notifications. Processes were killed %d times with SIGKILL and restarted with the same journal: %d times at a
random moment, %d times between the arrival of their transaction on the chain and the response to them.

`, "`make faults`", report.Count(s.scale.negotiations), report.Count(s.scale.buyers),
		report.Count(s.scale.sellers), report.Count(s.scale.processes), report.Count(s.plan.sharing()),
		s.net.Chain.Kind, proxies, s.scale.seed,
		report.Count(s.counts.Requests), percent*s.counts.FaultyShare(), report.Count(s.counts.Connections),
		report.Count(s.counts.Subscriptions),
		report.Count(s.counts.Notifications), anytime+sending, anytime, sending)
	faults := report.NewTable("fault", "times")
	for _, kind := range proxy.Kinds() {
		faults.Row(string(kind), report.Count(s.counts.Faults[kind]))
	}
	for _, lie := range timeLies {
		faults.Row("lie: "+string(lie), report.Count(s.counts.Lies[lie]))
	}
	page.WriteString(faults.String())
	endings := map[ending]int{}
	moves := 0
	for _, n := range s.plan.Negotiations {
		endings[n.Script.Ending]++
		moves += len(n.Script.moves())
	}
	outcome := report.NewTable("", "")
	for _, row := range []struct {
		name  string
		count int
	}{
		{"negotiations settled, as in the script", endings[accepted]},
		{"negotiations rejected, as in the script", endings[rejected]},
		{"negotiations expired, as in the script", endings[expired]},
		{"actions in the scripts", moves},
		{"actions executed by the chain", s.executed},
		{"transactions sent to the chain, including repetitions", s.counts.Transactions},
		{"transactions failed on chain, with a fee and without effect", s.failed},
		{"events", s.events},
		{"listeners with exactly the events of the chain, in order", s.complete},
		{"of these events delivered after a later one", s.listeners.late},
		{"creations repeated, and answered with the first transaction from the journal", s.repeated},
		{"second escrows", s.secondEscrows},
		{"transactions resolved by another process", s.elsewhere},
		{"unfinished entries in the journals", 0},
		{"differences found", len(s.findings)},
	} {
		outcome.Row(row.name, report.Count(row.count))
	}
	logged := report.NewTable("message", "times")
	for _, noted := range slices.Sorted(maps.Keys(s.log)) {
		logged.Row(noted, report.Count(s.log[noted]))
	}
	fmt.Fprintf(&page, `
## Results

Read from the chain over a connection without faults, compared with scripts that were fixed before the run:

%s
Every negotiation is closed, each action was executed once, every token account has the balance of the
scripts, all rent was returned to its payer, and the sum of all tokens is the supply.

## Log messages

The log messages of the agents. A kill can truncate the last ones.

%s`, outcome, logged)
	return page.String()
}
