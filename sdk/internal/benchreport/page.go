package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// section is about a benchmark.
type section struct {
	group, title string
	// remark says what is measured.
	remark string
	table  func(*report, string) (string, error)
}

var sections = []section{
	{"DecodeAccount", "Decoding an account",
		"From the account's data to a struct, into one that is there already: `Decode`, beside `ParseAnyAccount`.", (*report).comparison},
	{"DecodeEvent", "Decoding an event",
		"From the logged bytes to a struct, into one that is there already: `Decode`, beside `ParseAnyEvent`.", (*report).comparison},
	{"RecogniseEvent", "Recognising an event",
		"From the logged bytes to a new event of whichever type they are: `DecodeEvent`, beside `ParseAnyEvent`. The one allocation is the event that is returned.", (*report).comparison},
	{"BuildInstruction", "Building an instruction",
		"From a struct to the accounts and data that a transaction holds, with all accounts given. A dash stands where there is nothing to compare: anchor-go leaves the data of instructions without arguments empty.", (*report).comparison},
	{"ParseLogs", "Reading a transaction's logs",
		"An offer that came through another program: seven lines, base 64 included.", (*report).comparison},
	{"Call", "A request",
		"Reading a balance from a node that answers at once: through a client's pool of nodes, beside the JSON-RPC client alone.", (*report).beyondRequests},
	{"Action", "An action",
		"A whole offer: built, simulated, signed, sent, looked for, its events decoded. It has been made on a local chain once, and is measured with that chain's answers, which come at once: what is left is the SDK's own time. A journal has every transaction on the disk before it is sent, and its outcome afterwards, which takes as long as the disk does.", (*report).beyondRequests},
	{"Subscriptions", "Subscriptions",
		"On a solana-test-validator: the time from the decision to make an offer until another client's listener has the event, while that client has so many subscriptions on one WebSocket connection; what a subscription takes in memory; and how long it takes after a cut until all have been made again.", (*report).subscriptions},
}

// page is the report in Markdown.
func (r *report) page() (string, error) {
	var out strings.Builder
	fmt.Fprintf(&out, `# Benchmarks

Written by `+"`make bench`"+` (%s, %s), which runs

`+"```"+`
%s
`+"```"+`

*anchor-go* is the client that anchor-go 1.0.0 generates from the same IDL; it works by reflection. The command generates it into a
temporary folder, and overlay.json adds it to the package. All figures of one table come from the same run, so the ratio between its
rows says more than the times, which are this machine's. Each figure is that of the fastest run.
`, r.toolchain, r.cpu, strings.Join(r.commands, "\n"))
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
func (r *report) comparison(group string) (string, error) {
	var out strings.Builder
	out.WriteString("| | ns | allocations | bytes allocated | anchor-go: ns | allocations | times as fast |\n")
	out.WriteString("|---|---:|---:|---:|---:|---:|---:|\n")
	for _, ours := range r.of(group) {
		name, ok := strings.CutSuffix(ours.name, "/haggle")
		if !ok {
			continue
		}
		theirs, ratio := "– | –", "–"
		if anchors := r.find(group, name+"/anchor-go"); anchors != nil {
			theirs = fmt.Sprintf("%.0f | %.0f", anchors.ns(), anchors.values["allocs/op"])
			ratio = fmt.Sprintf("%.0f", anchors.ns()/ours.ns())
		}
		fmt.Fprintf(&out, "| `%s` | %.1f | %.0f | %.0f | %s | %s |\n",
			name, ours.ns(), ours.values["allocs/op"], ours.values["B/op"], theirs, ratio)
	}
	return out.String(), nil
}

// requestsAlone is the row that the others are compared with.
const requestsAlone = "requests_alone"

const nsPerMicrosecond = 1_000

// beyondRequests says how much longer everything takes than the requests alone.
func (r *report) beyondRequests(group string) (string, error) {
	alone := r.find(group, requestsAlone)
	if alone == nil {
		return "", fmt.Errorf("%s is missing", requestsAlone)
	}
	var out strings.Builder
	out.WriteString("| | µs | beyond the requests: µs | allocations | bytes allocated |\n|---|---:|---:|---:|---:|\n")
	rows := r.of(group)
	slices.SortStableFunc(rows, func(a, b *result) int { return cmp.Compare(a.ns(), b.ns()) })
	for _, one := range rows {
		beyond := "–"
		if !strings.HasSuffix(one.name, "_alone") {
			beyond = fmt.Sprintf("%.0f", (one.ns()-alone.ns())/nsPerMicrosecond)
		}
		fmt.Fprintf(&out, "| %s | %.1f | %s | %.0f | %.0f |\n", strings.ReplaceAll(one.name, "_", " "), one.ns()/nsPerMicrosecond, beyond,
			one.values["allocs/op"], one.values["B/op"])
	}
	return out.String(), nil
}

func (r *report) subscriptions(group string) (string, error) {
	var out strings.Builder
	out.WriteString("| subscriptions | ms to the event | bytes each | ms until all are made again |\n|---:|---:|---:|---:|\n")
	for _, one := range r.of(group) {
		fmt.Fprintf(&out, "| %s | %.0f | %.0f | %.0f |\n", one.name, one.ns()/1e6, one.values["B/subscription"], one.values["ms/reconnect"])
	}
	return out.String(), nil
}
