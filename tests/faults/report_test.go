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

	"github.com/haggle-protocol/haggle/tests/faults/proxy"
)

// A report says what a run has come to.
type report struct {
	*audit
	counts proxy.Counts
	// log counts what the processes have noted, by what it was.
	log map[string]int
}

func newReport(t *testing.T, a *audit, counts proxy.Counts) *report {
	r := &report{audit: a, counts: counts, log: make(map[string]int)}
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
				r.log[noted.Msg+": "+noted.Outcome]++
			case noted.Action != "":
				r.log[noted.Msg+": "+noted.Action]++
			default:
				r.log[noted.Msg]++
			}
		}
	}
	return r
}

func (r *report) page() string {
	var page strings.Builder
	anytime, sending := r.crew.kills()
	fmt.Fprintf(&page, `# Faults

Written by %s. %s negotiations by %s buyers and %s sellers on the SDK's agent runtime, each with a journal, in %s processes.
Between them and a local chain (%s) are %d proxies that misbehave on purpose; one of them lies behind. Seed %d.

## What was done to them

%s HTTP requests, of which %.1f %% met a fault; %s WebSocket connections, %s subscriptions, %s notifications.
Processes were killed %d times with SIGKILL and started again with the same journal: %d times at a random moment, %d times when a
transaction of theirs had reached the chain and they did not know yet.

| fault | times |
|---|---:|
`, "`make faults`", grouped(r.scale.negotiations), grouped(r.scale.buyers), grouped(r.scale.sellers), grouped(r.scale.processes),
		r.net.Chain.Kind, proxies, r.scale.seed,
		grouped(r.counts.Requests), percent*r.counts.FaultyShare(), grouped(r.counts.Connections), grouped(r.counts.Subscriptions),
		grouped(r.counts.Notifications), anytime+sending, anytime, sending)
	for _, kind := range proxy.Kinds() {
		fmt.Fprintf(&page, "| %s | %s |\n", kind, grouped(r.counts.Faults[kind]))
	}
	endings := map[ending]int{}
	moves := 0
	for _, n := range r.plan.Negotiations {
		endings[n.Script.Ending]++
		moves += len(n.Script.moves())
	}
	fmt.Fprintf(&page, `
## What came of it

Read from the chain over a clean connection, and compared with scripts that were written before:

| | |
|---|---:|
| negotiations settled, as the script says | %s |
| negotiations rejected, as the script says | %s |
| negotiations expired, as the script says | %s |
| actions in the scripts | %s |
| actions that the chain has executed | %s |
| transactions passed on to the chain, repetitions included | %s |
| transactions that have failed on chain, for a fee and without effect | %s |
| events | %s |
| listeners whose events are exactly the chain's, in its order | %s |
| of these events told after a later one | %s |
| unfinished entries in the journals | 0 |
| differences found | %d |

Every negotiation has been closed, each action has been executed once, every token account holds what the scripts leave there, all
rent has come back to who paid it, and all tokens together are what was issued.

## What it took

What the agents have noted, in the lives that were not cut short before they could.

| noted | times |
|---|---:|
`, grouped(endings[accepted]), grouped(endings[rejected]), grouped(endings[expired]), grouped(moves), grouped(r.executed),
		grouped(r.counts.Transactions), grouped(r.failed), grouped(r.events), grouped(r.listeners), grouped(r.audience.late), len(r.findings))
	for _, noted := range slices.Sorted(maps.Keys(r.log)) {
		fmt.Fprintf(&page, "| %s | %s |\n", noted, grouped(r.log[noted]))
	}
	return page.String()
}

// grouped writes a number with commas between thousands.
func grouped(number int) string {
	text := fmt.Sprint(number)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}
