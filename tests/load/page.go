package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/haggle-protocol/haggle/internal/report"
)

// Page is the report in Markdown. drawing is the file name of the latencies' drawing; empty if there is none.
func (r *Result) Page(drawing string) string {
	var page strings.Builder
	page.WriteString(r.introduction())
	if len(r.Findings) > 0 {
		fmt.Fprintf(&page, "\n## Findings\n\n%s\n", list(r.Findings))
	}
	page.WriteString(r.comparisonSection())
	if drawing != "" {
		fmt.Fprintf(&page, "\n![How many have been confirmed within which time](%s)\n", drawing)
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

%s negotiations between as many different pairs, all created before any ends, on a solana-test-validator with the program. Every
action goes through the SDK: it reads the state, simulates, signs, sends, and waits for the confirmation. At most %s actions are
under way at once. Meanwhile %s other wallets send plain SPL transfers on the same chain, each one after the other, with the
SDK's Submit; those that begin while a stage is played are compared with it. Everybody pauses for a random part of a slot before
acting, so that neither load keeps in step with the chain. The seconds are this machine's; what an action costs beside a transfer
shows in the ratios.
`, "`make load PAIRS="+fmt.Sprint(r.Options.Pairs)+"`", r.machine, report.Count(r.Options.Pairs), report.Count(r.Options.InFlight), report.Count(r.Options.Transfers))
}

func isAction(m *record) bool { return !m.isTransfer() }

func isTransferInStage(m *record) bool { return m.isTransfer() && m.stage != none }

// sideBySide is the table of both loads, stage by stage.
func (r *Result) comparisonSection() string {
	var out strings.Builder
	out.WriteString(`
## Actions beside plain transfers

Latency is the time from the first broadcast to the confirmation, as the SDK sees it: it asks at intervals that grow from 10 ms to
500 ms, so a latency is one of a few steps. Both loads are measured alike.

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
Create is one action per negotiation, bargain the acceptance of the invitation and four or five offers, end an acceptance or, for
one in four, a rejection. A stage ends when the last negotiation is through.
`)
	return out.String()
}

// compare adds a row for the selected actions and transfers.
func (r *Result) compare(table *report.Table, title string, lasted time.Duration, among func(*record) bool) {
	row := []string{title, fmt.Sprintf("%.1f", lasted.Seconds())}
	of := func(load func(*record) bool) []time.Duration {
		latencies := measured(r.records, confirmation, func(m *record) bool { return load(m) && among(m) })
		row = append(row, report.Count(len(latencies)), fmt.Sprintf("%.1f", float64(len(latencies))/lasted.Seconds()),
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

// byAction is the table of the single instructions.
func (r *Result) actionSection() string {
	var out strings.Builder
	out.WriteString(`
## Action by action

*Whole* is the time from reading the state to the confirmation: reading, simulation and signature included. Compute units are the
transaction's.

`)
	table := report.NewTable("", "confirmed", "median s", "p99 s", "whole, median s", "whole, p99 s", "compute units, median")
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

// actions are those that have been done, in the order of their first confirmation, and the plain transfer last.
func (r *Result) actions() (names []string) {
	for i := range r.records {
		if entry := &r.records[i]; entry.done && !entry.isTransfer() && !slices.Contains(names, entry.action) {
			names = append(names, entry.action)
		}
	}
	return append(names, plainTransfer)
}

// requests are what the node is asked for.
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
## What the node is asked for

Requests per attempt, waiting for the confirmation (getSignatureStatuses) included. A transfer is neither built on a state nor
simulated. The driver kept %.2f cores busy on average, and the validator %.2f over its whole life; the chain made a block every
%.2f s, where 0.40 s is what it takes while the machine keeps up.

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

// outcomes counts every attempt by what came of it.
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
## What came of every attempt

What certainly did not happen is tried again, at most twice.

`)
	table := report.NewTable("outcome", "actions", "transfers")
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		table.Row(outcome, report.Count(counts[outcome][0]), report.Count(counts[outcome][1]))
	}
	out.WriteString(table.String())
	if len(counts) == 1 {
		out.WriteString("\nNothing failed, expired, or stayed unknown.\n")
	}
	return out.String()
}

// nothingLost says what has been compared, and where the money went.
func (r *Result) consistencySection() string {
	var out strings.Builder
	verdict := "There was no difference."
	if r.audit.findings.count > 0 {
		verdict = fmt.Sprintf("**There were %s differences; the first ones are above.**", report.Count(r.audit.findings.count))
	}
	fmt.Fprintf(&out, `
## Nothing lost

After each stage every negotiation's account and every token account of the mint is compared with what follows from the
negotiation's script. At the end every transaction of every block is compared with what whoever sent it was told, and each
negotiation's events with its script; the parties must have all their lamports back less the fees, and the protocol's totals must
be the sums of the scripts. %s

`, verdict)
	table := report.NewTable("", "")
	for _, row := range []struct {
		what  string
		count int
	}{
		{"negotiations open at once when all had been created", r.audit.open[creating]},
		{"negotiations open at once when all had bargained", r.audit.open[bargaining]},
		{"negotiations left after the closings", r.audit.open[closing]},
		{"blocks read", r.blocks.blocks},
		{"transactions of the program's in them", r.blocks.program},
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
+ %s back to buyers.
`, report.Count(escrow), report.Count(sum.toSeller), report.Count(sum.fee), report.Count(sum.decay), report.Count(sum.refund))
	return out.String()
}

// lockTables say what the transactions' account lists have in common.
func (r *Result) lockSection() string {
	l := r.audit.locks
	var out strings.Builder
	fmt.Fprintf(&out, `
## What negotiations share

From the account lists of the %s transactions before the closings, as the headers of their messages divide them into writable
and read-only: %s negotiations write %s accounts, and **%s of these occur in the transactions of two negotiations** (of
%s pairs), be it to read. So no action waits for another negotiation's. The fullest block held %s of these transactions,
of %s negotiations.

`, report.Count(l.transactions), report.Count(l.negotiations), report.Count(l.writable), report.Count(len(l.shared)), report.Count(l.pairs()),
		report.Count(r.blocks.fullest), report.Count(r.blocks.parties))
	out.WriteString(r.accountTable("named by several negotiations before the closings", l.common))
	out.WriteString(`
Closing is what collects the fees, when nobody waits any more; it alone writes what is everybody's.

`)
	out.WriteString(r.accountTable("written by the closings of several negotiations", l.atClose))
	return out.String()
}

func (r *Result) accountTable(title string, accounts []commonAccount) string {
	table := report.NewTable(title, "transactions", "that write it")
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
