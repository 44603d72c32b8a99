package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/haggle-protocol/haggle/internal/report"
)

// section is the section of a benchmark.
type section struct {
	group, title string
	// remark describes the measurement.
	remark string
	table  func(*benchmarks, string) (string, error)
}

var sections = []section{
	{"DecodeAccount", "Decoding an account",
		"`Decode` decodes an account into an existing struct; compared with `ParseAnyAccount`.",
		(*benchmarks).comparison},
	{"DecodeEvent", "Decoding an event",
		"`Decode` decodes the logged bytes into an existing struct; compared with `ParseAnyEvent`.",
		(*benchmarks).comparison},
	{"RecogniseEvent", "Recognising an event",
		"`DecodeEvent` decodes the logged bytes into a new event of the right type; compared with\n" +
			"`ParseAnyEvent`. The allocation is the returned event.",
		(*benchmarks).comparison},
	{"BuildInstruction", "Building an instruction",
		"From a struct to the accounts and data of a transaction, with all accounts given. A dash means\n" +
			"that no comparison is possible: anchor-go leaves the data of instructions without arguments\n" +
			"empty.",
		(*benchmarks).comparison},
	{"ParseLogs", "Reading a transaction's logs",
		"An offer by way of another program: seven lines, with base 64.",
		(*benchmarks).comparison},
	{"Call", "A request",
		"Reading a balance from a node without latency: with a client's pool of nodes, and with the\n" +
			"JSON-RPC client alone.",
		(*benchmarks).beyondRequests},
	{"Action", "An action",
		"A whole offer: it is built, simulated, signed, sent and confirmed, and its events are decoded.\n" +
			"The node replays the recorded answers of a local chain without latency, so the figures are the\n" +
			"SDK's own time. A journal writes every transaction to disk before it is sent, and its outcome\n" +
			"afterwards; that takes the time of the disk.",
		(*benchmarks).beyondRequests},
	{"Subscriptions", "Subscriptions",
		"On a solana-test-validator, with this number of subscriptions on one WebSocket connection: the\n" +
			"time from the decision to submit an offer until another client's listener receives the event,\n" +
			"the memory of a subscription, and the time from a lost connection until all subscriptions are\n" +
			"restored.",
		(*benchmarks).subscriptions},
}

// page returns the report in Markdown.
func (r *benchmarks) page() (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, `# Benchmarks

Written by `+"`make bench`"+` (%s, %s), which runs

`+"```"+`
%s
`+"```"+`

*anchor-go* is the client that anchor-go 1.0.0 generates from the same IDL; it uses reflection. The command
generates it into a temporary folder, and overlay.json adds it to the package. All figures of a table come
from the same run. The times depend on the machine; the ratio between two rows depends less on it. Each figure
is that of the fastest run.
`, r.machine, r.cpu, strings.Join(r.commands, "\n"))
	for _, s := range sections {
		table, err := s.table(r, s.group)
		if err != nil {
			return "", fmt.Errorf("%s: %w", s.group, err)
		}
		fmt.Fprintf(&out, "\n## %s\n\n%s\n\n%s", s.title, s.remark, table)
	}
	return out.String(), nil
}

// comparison returns a table of <name>/haggle and <name>/anchor-go.
func (r *benchmarks) comparison(group string) (string, error) {
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
		table.Row("`"+name+"`", tenths(ours.ns()), whole(ours.values["allocs/op"]),
			whole(ours.values["B/op"]),
			theirNs, theirAllocations, ratio)
	}
	return table.String(), nil
}

// requestsAlone is the row for comparison.
const requestsAlone = "requests_alone"

const nsPerMicrosecond = 1_000

// beyondRequests returns a table of the times beyond those of the requests alone.
func (r *benchmarks) beyondRequests(group string) (string, error) {
	alone := r.find(group, requestsAlone)
	if alone == nil {
		return "", fmt.Errorf("%s is missing", requestsAlone)
	}
	table := report.NewTable("", "µs", "beyond the requests: µs", "allocations", "bytes allocated")
	rows := r.of(group)
	slices.SortStableFunc(rows, func(a, b *result) int { return cmp.Compare(a.ns(), b.ns()) })
	for _, row := range rows {
		beyond := "–"
		if !strings.HasSuffix(row.name, "_alone") {
			beyond = whole((row.ns() - alone.ns()) / nsPerMicrosecond)
		}
		table.Row(strings.ReplaceAll(row.name, "_", " "), tenths(row.ns()/nsPerMicrosecond), beyond,
			whole(row.values["allocs/op"]), whole(row.values["B/op"]))
	}
	return table.String(), nil
}

func (r *benchmarks) subscriptions(group string) (string, error) {
	table := report.NewTable("subscriptions", "ms to the event", "bytes each", "ms until all are restored")
	for _, row := range r.of(group) {
		table.Row(row.name, whole(row.ns()/1e6), whole(row.values["B/subscription"]),
			whole(row.values["ms/reconnect"]))
	}
	return table.String(), nil
}

func whole(value float64) string { return fmt.Sprintf("%.0f", value) }

func tenths(value float64) string { return fmt.Sprintf("%.1f", value) }
