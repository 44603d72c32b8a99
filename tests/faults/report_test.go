package faults_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/report"
	"github.com/haggle-protocol/haggle/tests/faults/proxy"
)

// results are those of a run.
type results struct {
	*audit
	counts proxy.Counts
	// log counts what the processes have noted, by what it was.
	log map[string]int
}

func newResults(t *testing.T, a *audit, counts proxy.Counts) *results {
	s := &results{audit: a, counts: counts, log: make(map[string]int)}
	for host := range a.plan.Hosts {
		content, err := os.ReadFile(a.plan.logFile(host))
		require.NoError(t, err)
		for line := range bytes.Lines(content) {
			var noted struct{ Msg, Action, Outcome string }
			if json.Unmarshal(line, &noted) != nil {
				continue // cut off by a kill
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
	anytime, sending := s.crew.kills()
	fmt.Fprintf(&page, `# Faults

Written by %s. %s negotiations by %s buyers and %s sellers on the SDK's agent runtime, each with a journal, in %s processes.
Between them and a local chain (%s) are %d proxies that misbehave on purpose; one of them lies behind. Seed %d.

## What was done to them

%s HTTP requests, of which %.1f %% met a fault; %s WebSocket connections, %s subscriptions, %s notifications.
Processes were killed %d times with SIGKILL and started again with the same journal: %d times at a random moment, %d times when a
transaction of theirs had reached the chain and they did not know yet.

`, "`make faults`", report.Count(s.scale.negotiations), report.Count(s.scale.buyers), report.Count(s.scale.sellers), report.Count(s.scale.processes),
		s.net.Chain.Kind, proxies, s.scale.seed,
		report.Count(s.counts.Requests), percent*s.counts.FaultyShare(), report.Count(s.counts.Connections), report.Count(s.counts.Subscriptions),
		report.Count(s.counts.Notifications), anytime+sending, anytime, sending)
	faults := report.NewTable("fault", "times")
	for _, kind := range proxy.Kinds() {
		faults.Row(kind.String(), report.Count(s.counts.Faults[kind]))
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
		{"negotiations settled, as the script says", endings[accepted]},
		{"negotiations rejected, as the script says", endings[rejected]},
		{"negotiations expired, as the script says", endings[expired]},
		{"actions in the scripts", moves},
		{"actions that the chain has executed", s.executed},
		{"transactions passed on to the chain, repetitions included", s.counts.Transactions},
		{"transactions that have failed on chain, for a fee and without effect", s.failed},
		{"events", s.events},
		{"listeners whose events are exactly the chain's, in its order", s.listeners},
		{"of these events told after a later one", s.audience.late},
		{"unfinished entries in the journals", 0},
		{"differences found", len(s.findings)},
	} {
		outcome.Row(row.name, report.Count(row.count))
	}
	logged := report.NewTable("noted", "times")
	for _, noted := range slices.Sorted(maps.Keys(s.log)) {
		logged.Row(noted, report.Count(s.log[noted]))
	}
	fmt.Fprintf(&page, `
## What came of it

Read from the chain over a clean connection, and compared with scripts that were written before:

%s
Every negotiation has been closed, each action has been executed once, every token account holds what the scripts leave there, all
rent has come back to who paid it, and all tokens together are what was issued.

## What it took

What the agents have noted, in the lives that were not cut short before they could.

%s`, outcome, logged)
	return page.String()
}
