package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/internal/report"
)

// Page returns the report in Markdown. drawing is the file name of the plot; empty if there is none.
func (r *Result) Page(drawing string) string {
	var page strings.Builder
	page.WriteString(r.introduction())
	if len(r.Findings) > 0 {
		fmt.Fprintf(&page, "\n## Findings\n\n%s\n", list(r.Findings))
	}
	page.WriteString(r.comparisonSection())
	if drawing != "" {
		fmt.Fprintf(&page, "\n![Share of confirmed actions and transfers over time](%s)\n", drawing)
	}
	page.WriteString(r.actionSection())
	page.WriteString(r.requestSection())
	page.WriteString(r.outcomeSection())
	page.WriteString(r.consistencySection())
	page.WriteString(r.lockSection())
	return page.String()
}

func (r *Result) introduction() string {
	return fmt.Sprintf(`# Load

Written by %s (%s).

%s negotiations between as many different pairs run on a solana-test-validator with the program. All are
created before any ends. Every action uses the SDK: it reads the state, simulates, signs, sends, and waits for
the confirmation. At most %s actions are in flight. At the same time, %s other wallets send plain SPL
transfers with the SDK's Submit, each with one transfer in flight. A stage is compared with the transfers that
begin during it. All parties wait for a random part of a slot before they act, so that neither load runs in
step with the chain. The seconds depend on the machine; the ratios show the cost of an action compared with a
transfer.
`, "`make load PAIRS="+fmt.Sprint(r.Options.Pairs)+"`", r.machine,
		report.Count(r.Options.Pairs), report.Count(r.Options.InFlight), report.Count(r.Options.Transfers))
}

func isAction(m *record) bool { return !m.isTransfer() }

func isTransferInStage(m *record) bool { return m.isTransfer() && m.stage != none }

// comparisonSection compares both loads, stage by stage.
func (r *Result) comparisonSection() string {
	var out strings.Builder
	out.WriteString(`
## Actions beside plain transfers

Latency is the time from the first broadcast to the confirmation. The SDK polls the status at intervals that
grow from 10 ms to 500 ms, so latencies have few different values. Both loads are measured in the same way.

`)
	table := report.NewTable("stage", "seconds", "actions", "per second", "median s", "p99 s",
		"transfers", "per second", "median s", "p99 s", "median, times", "p99, times")
	var total time.Duration
	for _, stage := range stages {
		total += r.lasted[stage.id]
		r.compare(table, stage.title, r.lasted[stage.id], func(m *record) bool { return m.stage == stage.id })
	}
	r.compare(table, "all", total, func(m *record) bool { return m.stage != none })
	out.WriteString(table.String() + `
*create* is one action per negotiation. *bargain* is the acceptance of the invitation and four or five offers.
*end* is the acceptance of an offer or, for one negotiation in four, a rejection. A stage ends with its last
negotiation.
`)
	return out.String()
}

// compare adds a row for the selected actions and transfers.
func (r *Result) compare(table *report.Table, title string, lasted time.Duration, among func(*record) bool) {
	row := []string{title, fmt.Sprintf("%.1f", lasted.Seconds())}
	of := func(load func(*record) bool) []time.Duration {
		latencies := measured(r.records, confirmation, func(m *record) bool { return load(m) && among(m) })
		row = append(row, report.Count(len(latencies)),
			fmt.Sprintf("%.1f", float64(len(latencies))/lasted.Seconds()),
			seconds(report.Quantile(latencies, 50)), seconds(report.Quantile(latencies, 99)))
		return latencies
	}
	actions, transfers := of(isAction), of((*record).isTransfer)
	for _, percent := range []int{50, 99} {
		row = append(row, ratio(report.Quantile(actions, percent), report.Quantile(transfers, percent)))
	}
	table.Row(row...)
}

func seconds(latency time.Duration) string { return fmt.Sprintf("%.2f", latency.Seconds()) }

func ratio(a, b time.Duration) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", a.Seconds()/b.Seconds())
}

// actionSection has the figures of each instruction.
func (r *Result) actionSection() string {
	var out strings.Builder
	out.WriteString(`
## Actions

*Whole* is the time from reading the state to the confirmation, with reading, simulation and signing. Compute
units are those of the transaction.

`)
	table := report.NewTable("", "confirmed", "median s", "p99 s", "whole, median s", "whole, p99 s",
		"compute units, median")
	for _, action := range r.actions() {
		named := func(m *record) bool { return m.action == action }
		latencies, all := measured(r.records, confirmation, named), measured(r.records, whole, named)
		table.Row("`"+action+"`", report.Count(len(latencies)),
			seconds(report.Quantile(latencies, 50)), seconds(report.Quantile(latencies, 99)),
			seconds(report.Quantile(all, 50)), seconds(report.Quantile(all, 99)),
			report.Count(report.Quantile(measured(r.records, units, named), 50)))
	}
	out.WriteString(table.String())
	return out.String()
}

// actions returns the names of the confirmed actions in the order of the records, and the plain transfer
// last.
func (r *Result) actions() (names []string) {
	for i := range r.records {
		if entry := &r.records[i]; entry.done && !entry.isTransfer() &&
			!slices.Contains(names, entry.action) {
			names = append(names, entry.action)
		}
	}
	return append(names, plainTransfer)
}

// requestSection has the numbers of requests to the node.
func (r *Result) requestSection() string {
	attempts := map[bool]int{}
	for i := range r.records {
		attempts[r.records[i].isTransfer()]++
	}
	methods := map[string]bool{}
	var actions, transfers int
	for method, count := range r.partiesRequests {
		methods[method] = true
		actions += count
	}
	for method, count := range r.payersRequests {
		methods[method] = true
		transfers += count
	}
	var out strings.Builder
	fmt.Fprintf(&out, `
## Requests

Requests per attempt, including those that wait for the confirmation (getSignatureStatuses). Transfers read no
state and are not simulated. The load test used %.2f cores on average, and the validator %.2f over its whole
lifetime. The chain produced a block every %.2f s; on a machine that is fast enough, it is 0.40 s.

`, r.driverCores, r.validatorCores, r.blocks.lasted.Seconds()/float64(max(r.blocks.blocks, 1)))
	table := report.NewTable("", "action", "transfer")
	row := func(name string, actions, transfers int) {
		table.Row(name, perAttempt(actions, attempts[false]), perAttempt(transfers, attempts[true]))
	}
	for _, method := range slices.Sorted(maps.Keys(methods)) {
		row(method, r.partiesRequests[method], r.payersRequests[method])
	}
	row("all", actions, transfers)
	out.WriteString(table.String())
	return out.String()
}

func perAttempt(requests, attempts int) string {
	return fmt.Sprintf("%.2f", float64(requests)/float64(max(attempts, 1)))
}

// outcomeSection counts the attempts by outcome.
func (r *Result) outcomeSection() string {
	counts := map[string][2]int{}
	for i := range r.records {
		entry := &r.records[i]
		count := counts[entry.outcome]
		if entry.isTransfer() {
			count[1]++
		} else {
			count[0]++
		}
		counts[entry.outcome] = count
	}
	if _, some := counts[confirmed]; !some {
		counts[confirmed] = [2]int{}
	}
	var out strings.Builder
	out.WriteString(`
## Outcomes

An attempt that certainly had no effect is repeated, at most twice.

`)
	table := report.NewTable("outcome", "actions", "transfers")
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		table.Row(outcome, report.Count(counts[outcome][0]), report.Count(counts[outcome][1]))
	}
	out.WriteString(table.String())
	if len(counts) == 1 {
		out.WriteString("\nNo attempt failed or expired, and no outcome stayed unknown.\n")
	}
	return out.String()
}

// consistencySection describes the comparison of the chain with the scripts, and the division of the escrows.
func (r *Result) consistencySection() string {
	var out strings.Builder
	verdict := "There was no difference."
	if r.audit.findings.count > 0 {
		verdict = fmt.Sprintf("**There were %s differences; the first ones are above.**",
			report.Count(r.audit.findings.count))
	}
	fmt.Fprintf(&out, `
## Consistency

After each stage, every negotiation's account and every token account of the mint are compared with the
scripts. At the end, every transaction of every block is compared with the sender's receipt, and the events of
each negotiation with its script. The parties must have their starting lamports less the fees, and the
protocol's totals must be the sums of the scripts. %s

`, verdict)
	table := report.NewTable("", "")
	for _, row := range []struct {
		what  string
		count int
	}{
		{"open negotiations after all were created", r.audit.open[creating]},
		{"open negotiations after all had bargained", r.audit.open[bargaining]},
		{"negotiations left after the closings", r.audit.open[closing]},
		{"blocks read", r.blocks.blocks},
		{"transactions of the program in them", r.blocks.program},
		{"of these failed", r.blocks.failed},
		{"plain transfers in them", r.blocks.plain},
	} {
		table.Row(row.what, report.Count(row.count))
	}
	out.WriteString(table.String())
	var escrow uint64
	var sum division
	for i := range r.scripts {
		d := r.scripts[i].division(r.terms)
		escrow += r.scripts[i].escrow
		sum = division{sum.toSeller + d.toSeller, sum.fee + d.fee, sum.decay + d.decay, sum.refund + d.refund}
	}
	fmt.Fprintf(&out, `
Base units of the mint: %s in escrow = %s to sellers + %s in fees + %s of decay
+ %s refunded to buyers.
`, report.Count(escrow), report.Count(sum.toSeller), report.Count(sum.fee), report.Count(sum.decay),
		report.Count(sum.refund))
	return out.String()
}

// lockSection has the accounts that transactions of different negotiations have in common.
func (r *Result) lockSection() string {
	l := r.audit.locks
	var out strings.Builder
	fmt.Fprintf(&out, `
## Shared accounts

The headers of the messages divide the accounts of the %s transactions before the closings into writable and
read-only ones. %s negotiations write %s accounts. **%s of these occur in transactions of two negotiations**
(of %s pairs), written or read-only. So no action waits for an action of another negotiation. The fullest
block contains %s of these transactions, of %s negotiations.

`, report.Count(l.transactions), report.Count(l.negotiations), report.Count(l.writable),
		report.Count(len(l.shared)), report.Count(l.pairs()),
		report.Count(r.blocks.fullest), report.Count(r.blocks.parties))
	out.WriteString(r.accountTable("named by several negotiations before the closings", l.common))
	out.WriteString(`
Only close_negotiation writes shared accounts. It collects the fees after the end of a negotiation.

`)
	out.WriteString(r.accountTable("written by the closings of several negotiations", l.atClose))
	return out.String()
}

func (r *Result) accountTable(title string, accounts []commonAccount) string {
	table := report.NewTable(title, "transactions", "of which write")
	for _, account := range accounts {
		table.Row(r.name(account), report.Count(account.transactions), report.Count(account.written))
	}
	return table.String()
}

func (r *Result) name(account commonAccount) string {
	if name := r.names[account.address]; name != "" {
		return name
	}
	return "`" + account.address.String() + "`"
}

func list(items []string) string { return "- " + strings.Join(items, "\n- ") }
