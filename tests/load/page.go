package load

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Page is the report in Markdown. drawing is the file name of the latencies' drawing; empty if there is none.
func (r *Result) Page(drawing string) string {
	var page strings.Builder
	page.WriteString(r.introduction())
	if len(r.Findings) > 0 {
		fmt.Fprintf(&page, "\n## Findings\n\n%s\n", list(r.Findings))
	}
	page.WriteString(r.sideBySide())
	if drawing != "" {
		fmt.Fprintf(&page, "\n![How many have been confirmed within which time](%s)\n", drawing)
	}
	page.WriteString(r.byAction())
	page.WriteString(r.requests())
	page.WriteString(r.outcomes())
	page.WriteString(r.nothingLost())
	page.WriteString(r.lockTables())
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
`, "`make load PAIRS="+fmt.Sprint(r.Options.Pairs)+"`", r.machine, grouped(r.Options.Pairs), grouped(r.Options.InFlight), grouped(r.Options.Transfers))
}

func isAction(m *record) bool { return !m.isTransfer() }

func isTransferInStage(m *record) bool { return m.isTransfer() && m.stage != none }

// sideBySide is the table of both loads, stage by stage.
func (r *Result) sideBySide() string {
	var out strings.Builder
	out.WriteString(`
## Actions beside plain transfers

Latency is the time from the first broadcast to the confirmation, as the SDK sees it: it asks at intervals that grow from 10 ms to
500 ms, so a latency is one of a few steps. Both loads are measured alike.

| stage | seconds | actions | per second | median s | p99 s | transfers | per second | median s | p99 s | median, times | p99, times |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
`)
	var total time.Duration
	for _, stage := range stages {
		total += r.lasted[stage.id]
		out.WriteString(r.comparison(stage.title, r.lasted[stage.id], func(m *record) bool { return m.stage == stage.id }))
	}
	out.WriteString(r.comparison("all", total, func(m *record) bool { return m.stage != none }))
	out.WriteString(`
Create is one action per negotiation, bargain the acceptance of the invitation and four or five offers, end an acceptance or, for
one in four, a rejection. A stage ends when the last negotiation is through.
`)
	return out.String()
}

func (r *Result) comparison(title string, lasted time.Duration, among func(*record) bool) string {
	actions := latenciesOf(r.records, confirmation, func(m *record) bool { return isAction(m) && among(m) })
	transfers := latenciesOf(r.records, confirmation, func(m *record) bool { return m.isTransfer() && among(m) })
	return fmt.Sprintf("| %s | %.1f | %s | %.1f | %s | %s | %s | %.1f | %s | %s | %s | %s |\n", title, lasted.Seconds(),
		grouped(len(actions)), float64(len(actions))/lasted.Seconds(), seconds(actions.quantile(50)), seconds(actions.quantile(99)),
		grouped(len(transfers)), float64(len(transfers))/lasted.Seconds(), seconds(transfers.quantile(50)), seconds(transfers.quantile(99)),
		ratio(actions.quantile(50), transfers.quantile(50)), ratio(actions.quantile(99), transfers.quantile(99)))
}

func seconds(latency time.Duration) string { return fmt.Sprintf("%.2f", latency.Seconds()) }

func ratio(a, b time.Duration) string {
	if b == 0 {
		return "–"
	}
	return fmt.Sprintf("%.2f", a.Seconds()/b.Seconds())
}

// byAction is the table of the single instructions.
func (r *Result) byAction() string {
	var out strings.Builder
	out.WriteString(`
## Action by action

*Whole* is the time from reading the state to the confirmation: reading, simulation and signature included. Compute units are the
transaction's.

| | confirmed | median s | p99 s | whole, median s | whole, p99 s | compute units, median |
|---|---:|---:|---:|---:|---:|---:|
`)
	for _, action := range r.actions() {
		named := func(m *record) bool { return m.action == action }
		latency, all := latenciesOf(r.records, confirmation, named), latenciesOf(r.records, whole, named)
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s | %s | %s |\n", action, grouped(len(latency)),
			seconds(latency.quantile(50)), seconds(latency.quantile(99)), seconds(all.quantile(50)), seconds(all.quantile(99)),
			grouped(r.medianUnits(named)))
	}
	return out.String()
}

// actions are those that have been done, in the order of their first confirmation, and the plain transfer last.
func (r *Result) actions() (names []string) {
	for i := range r.records {
		if made := &r.records[i]; made.done && !made.isTransfer() && !slices.Contains(names, made.action) {
			names = append(names, made.action)
		}
	}
	return append(names, plainTransfer)
}

func (r *Result) medianUnits(selected func(*record) bool) uint64 {
	var units []uint64
	for i := range r.records {
		if made := &r.records[i]; made.done && selected(made) {
			units = append(units, made.units)
		}
	}
	if len(units) == 0 {
		return 0
	}
	slices.Sort(units)
	return units[(len(units)-1)/2]
}

// requests are what the node is asked for.
func (r *Result) requests() string {
	attempts := map[bool]int{}
	for i := range r.records {
		attempts[r.records[i].isTransfer()]++
	}
	per := func(requests, attempts int) float64 { return float64(requests) / float64(max(attempts, 1)) }
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

| | action | transfer |
|---|---:|---:|
`, r.driverCores, r.validatorCores, r.blocks.lasted.Seconds()/float64(max(r.blocks.blocks, 1)))
	for _, method := range slices.Sorted(maps.Keys(methods)) {
		fmt.Fprintf(&out, "| %s | %.2f | %.2f |\n", method, per(r.partiesRequests[method], attempts[false]), per(r.payersRequests[method], attempts[true]))
	}
	fmt.Fprintf(&out, "| all | %.2f | %.2f |\n", per(actions, attempts[false]), per(transfers, attempts[true]))
	return out.String()
}

// outcomes counts every attempt by what came of it.
func (r *Result) outcomes() string {
	counts := map[string][2]int{}
	for i := range r.records {
		made := &r.records[i]
		count := counts[made.outcome]
		if made.isTransfer() {
			count[1]++
		} else {
			count[0]++
		}
		counts[made.outcome] = count
	}
	if _, some := counts[confirmed]; !some {
		counts[confirmed] = [2]int{}
	}
	var out strings.Builder
	out.WriteString(`
## What came of every attempt

What certainly did not happen is tried again, at most twice.

| outcome | actions | transfers |
|---|---:|---:|
`)
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&out, "| %s | %s | %s |\n", outcome, grouped(counts[outcome][0]), grouped(counts[outcome][1]))
	}
	if len(counts) == 1 {
		out.WriteString("\nNothing failed, expired, or stayed unknown.\n")
	}
	return out.String()
}

// nothingLost says what has been compared, and where the money went.
func (r *Result) nothingLost() string {
	var out strings.Builder
	verdict := "There was no difference."
	if r.audit.findings.count > 0 {
		verdict = fmt.Sprintf("**There were %s differences; the first ones are above.**", grouped(r.audit.findings.count))
	}
	fmt.Fprintf(&out, `
## Nothing lost

After each stage every negotiation's account and every token account of the mint is compared with what follows from the
negotiation's script. At the end every transaction of every block is compared with what whoever sent it was told, and each
negotiation's events with its script; the parties must have all their lamports back less the fees, and the protocol's totals must
be the sums of the scripts. %s

| | |
|---|---:|
`, verdict)
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
		fmt.Fprintf(&out, "| %s | %s |\n", row.what, grouped(row.count))
	}
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
`, grouped(escrow), grouped(sum.toSeller), grouped(sum.fee), grouped(sum.decay), grouped(sum.refund))
	return out.String()
}

// lockTables say what the transactions' account lists have in common.
func (r *Result) lockTables() string {
	l := r.audit.locks
	var out strings.Builder
	fmt.Fprintf(&out, `
## What negotiations share

From the account lists of the %s transactions before the closings, as the headers of their messages divide them into writable
and read-only: %s negotiations write %s accounts, and **%s of these occur in the transactions of two negotiations** (of
%s pairs), be it to read. So no action waits for another negotiation's. The fullest block held %s of these transactions,
of %s negotiations.

| named by several negotiations before the closings | transactions | that write it |
|---|---:|---:|
`, grouped(l.transactions), grouped(l.negotiations), grouped(l.writable), grouped(len(l.shared)), grouped(l.pairs()),
		grouped(r.blocks.fullest), grouped(r.blocks.parties))
	for _, account := range l.common {
		fmt.Fprintf(&out, "| %s | %s | %s |\n", r.name(account), grouped(account.transactions), grouped(account.written))
	}
	out.WriteString(`
Closing is what collects the fees, when nobody waits any more; it alone writes what is everybody's.

| written by the closings of several negotiations | transactions | that write it |
|---|---:|---:|
`)
	for _, account := range l.atClose {
		fmt.Fprintf(&out, "| %s | %s | %s |\n", r.name(account), grouped(account.transactions), grouped(account.written))
	}
	return out.String()
}

func (r *Result) name(account commonAccount) string {
	if name := r.names[account.address]; name != "" {
		return name
	}
	return "`" + account.address.String() + "`"
}

func list(items []string) string { return "- " + strings.Join(items, "\n- ") }
