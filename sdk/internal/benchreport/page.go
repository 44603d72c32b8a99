package main

import (
	"fmt"
	"strings"
)

// titles head the tables, in the order of the benchmarks.
var titles = map[string]string{
	"DecodeAccount":    "Decoding an account",
	"DecodeEvent":      "Decoding an event",
	"RecogniseEvent":   "Recognising an event",
	"BuildInstruction": "Building an instruction",
	"ParseLogs":        "Reading a transaction's logs",
}

// remarks say what is measured.
var remarks = map[string]string{
	"DecodeAccount":    "From the account's data to a struct, into one that is there already: `Decode`, beside `ParseAnyAccount`.",
	"DecodeEvent":      "From the logged bytes to a struct, into one that is there already: `Decode`, beside `ParseAnyEvent`.",
	"RecogniseEvent":   "From the logged bytes to a new event of whichever type they are: `DecodeEvent`, beside `ParseAnyEvent`. The one allocation is the event that is returned.",
	"BuildInstruction": "From a struct to the accounts and data that a transaction holds, with all accounts given. A dash stands where there is nothing to compare: anchor-go leaves the data of instructions without arguments empty.",
	"ParseLogs":        "An offer that came through another program: seven lines, base 64 included.",
}

// page is the report in Markdown.
func (r *report) page() string {
	var out strings.Builder
	fmt.Fprintf(&out, `# Benchmarks

Written by `+"`make bench`"+`, which runs `+"`%s`"+`
(%s, %s).

*anchor-go* is the client that anchor-go 1.0.0 generates from the same IDL; it works by reflection. Both handle the same
bytes in the same run, so the ratio between them says more than the nanoseconds, which are this machine's. Each figure is
the fastest of sixty short runs: what else the machine does only ever adds time.
`, r.command, r.toolchain, r.cpu)
	group := ""
	for _, row := range r.rows {
		if row.group != group {
			group = row.group
			fmt.Fprintf(&out, "\n## %s\n\n%s\n\n", titles[group], remarks[group])
			out.WriteString("| | ns | allocations | bytes allocated | anchor-go: ns | allocations | times as fast |\n")
			out.WriteString("|---|---:|---:|---:|---:|---:|---:|\n")
		}
		out.WriteString(row.line())
	}
	return out.String()
}

func (r *row) line() string {
	theirs, ratio := "– | –", "–"
	if r.anchors != nil {
		theirs = fmt.Sprintf("%.0f | %d", r.anchors.ns, r.anchors.allocs)
		ratio = fmt.Sprintf("%.0f", r.anchors.ns/r.ours.ns)
	}
	return fmt.Sprintf("| `%s` | %.1f | %d | %d | %s | %s |\n", r.name, r.ours.ns, r.ours.allocs, r.ours.bytes, theirs, ratio)
}
