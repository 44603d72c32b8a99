package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/haggle-protocol/haggle/internal/report"
)

// section is about a benchmark.
type section struct {
	group, title string
	// remark says what is measured.
	remark string
	table  func(*benchmarks, string) (string, error)
}

var sections = []section{
	{"DecodeAccount", "Decoding an account",
		"From the account's data to a struct, into one that is there already: `Decode`, beside `ParseAnyAccount`.", (*benchmarks).comparison},
	{"DecodeEvent", "Decoding an event",
		"From the logged bytes to a struct, into one that is there already: `Decode`, beside `ParseAnyEvent`.", (*benchmarks).comparison},
	{"RecogniseEvent", "Recognising an event",
		"From the logged bytes to a new event of whichever type they are: `DecodeEvent`, beside `ParseAnyEvent`. The one allocation is the event that is returned.", (*benchmarks).comparison},
	{"BuildInstruction", "Building an instruction",
		"From a struct to the accounts and data that a transaction holds, with all accounts given. A dash stands where there is nothing to compare: anchor-go leaves the data of instructions without arguments empty.", (*benchmarks).comparison},
	{"ParseLogs", "Reading a transaction's logs",
		"An offer that came through another program: seven lines, base 64 included.", (*benchmarks).comparison},
	{"Call", "A request",
		"Reading a balance from a node that answers at once: through a client's pool of nodes, beside the JSON-RPC client alone.", (*benchmarks).beyondRequests},
	{"Action", "An action",
		"A whole offer: built, simulated, signed, sent, looked for, its events decoded. It has been made on a local chain once, and is measured with that chain's answers, which come at once: what is left is the SDK's own time. A journal has every transaction on the disk before it is sent, and its outcome afterwards, which takes as long as the disk does.", (*benchmarks).beyondRequests},
	{"Subscriptions", "Subscriptions",
		"On a solana-test-validator: the time from the decision to make an offer until another client's listener has the event, while that client has so many subscriptions on one WebSocket connection; what a subscription takes in memory; and how long it takes after a cut until all have been made again.", (*benchmarks).subscriptions},
}

// page is the report in Markdown.
func (r *benchmarks) page() (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, `# Benchmarks

Written by `+"`make bench`"+` (%s, %s), which runs

`+"```"+`
%s
`+"```"+`

*anchor-go* is the client that anchor-go 1.0.0 generates from the same IDL; it works by reflection. The command generates it into a
temporary folder, and overlay.json adds it to the package. All figures of one table come from the same run, so the ratio between its
rows says more than the times, which are this machine's. Each figure is that of the fastest run.
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

// comparison puts <name>/haggle beside <name>/anchor-go.
func (r *benchmarks) comparison(group string) (string, error) {
	table := report.NewTable("", "ns", "allocations", "bytes allocated", "anchor-go: ns", "allocations", "times as fast")
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
	return table.String(), nil
}

// requestsAlone is the row that the others are compared with.
const requestsAlone = "requests_alone"

const nsPerMicrosecond = 1_000

// beyondRequests says how much longer everything takes than the requests alone.
func (r *benchmarks) beyondRequests(group string) (string, error) {
	alone := r.find(group, requestsAlone)
	if alone == nil {
		return "", fmt.Errorf("%s is missing", requestsAlone)
	}
	table := report.NewTable("", "µs", "beyond the requests: µs", "allocations", "bytes allocated")
	rows := r.of(group)
	slices.SortStableFunc(rows, func(a, b *result) int { return cmp.Compare(a.ns(), b.ns()) })
	for _, one := range rows {
		beyond := "–"
		if !strings.HasSuffix(one.name, "_alone") {
			beyond = whole((one.ns() - alone.ns()) / nsPerMicrosecond)
		}
		table.Row(strings.ReplaceAll(one.name, "_", " "), tenths(one.ns()/nsPerMicrosecond), beyond,
			whole(one.values["allocs/op"]), whole(one.values["B/op"]))
	}
	return table.String(), nil
}

func (r *benchmarks) subscriptions(group string) (string, error) {
	table := report.NewTable("subscriptions", "ms to the event", "bytes each", "ms until all are made again")
	for _, one := range r.of(group) {
		table.Row(one.name, whole(one.ns()/1e6), whole(one.values["B/subscription"]), whole(one.values["ms/reconnect"]))
	}
	return table.String(), nil
}

func whole(value float64) string { return fmt.Sprintf("%.0f", value) }

func tenths(value float64) string { return fmt.Sprintf("%.1f", value) }
