package load

import (
	_ "embed" // the page
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/haggle-protocol/haggle/internal/lab/report"
)

//go:embed page.md.tmpl
var pageText string

// Page returns the report in Markdown. drawing is the file name of the plot. If empty, there is none.
func (r *Result) Page(drawing string) string {
	blocks, l := r.statistics(), r.audit.locks
	var escrow uint64
	var sum division
	for _, n := range r.negotiations {
		d := n.script.division(r.terms)
		escrow += n.script.escrow
		sum = division{sum.toSeller + d.toSeller, sum.fee + d.fee, sum.decay + d.decay, sum.refund + d.refund}
	}
	outcomes, allConfirmed := r.outcomeTable()
	checked := report.NewTable("", "")
	checked.Row("open negotiations after all were created", report.Count(r.audit.open[creating]))
	checked.Row("open negotiations after all had bargained", report.Count(r.audit.open[bargaining]))
	checked.Row("negotiations left after the closings", report.Count(r.audit.open[closing]))
	checked.Row("blocks read", report.Count(r.blocks.blocks))
	checked.Row("transactions of the program in them", report.Count(len(r.blocks.program)))
	checked.Row("of these failed", report.Count(blocks.failed))
	checked.Row("plain transfers in them", report.Count(len(r.blocks.plain)))
	page, err := report.Fill(pageText, nil, map[string]any{
		"options": r.Options, "machine": r.machine, "drawing": drawing,
		"findings": r.Findings, "differences": r.audit.findings.Count,
		"stages": r.stageTable(), "actions": r.actionTable(), "requests": r.requestTable(),
		"outcomes": outcomes, "allConfirmed": allConfirmed,
		"driverCores": r.driverCores, "validatorCores": r.validatorCores,
		"blockTime": r.blocks.lasted.Seconds() / float64(max(r.blocks.blocks, 1)),
		"checked":   checked.String(),
		"escrow":    escrow, "toSeller": sum.toSeller, "fee": sum.fee, "decay": sum.decay, "refund": sum.refund,
		"transactions": l.transactions, "negotiations": l.negotiations, "writable": l.writable,
		"shared": len(l.shared), "pairs": l.pairs(), "fullest": blocks.fullest, "parties": blocks.parties,
		"common":  r.accountTable("named by several negotiations before the closings", l.common),
		"atClose": r.accountTable("written by the closings of several negotiations", l.atClose),
	})
	if err != nil {
		panic(err) // the template does not fit the values
	}
	return page
}

func isAction(m *record) bool { return !m.isTransfer() }

func isTransferInStage(m *record) bool { return m.isTransfer() && m.stage != none }

// stageTable compares both loads, stage by stage.
func (r *Result) stageTable() string {
	t := report.NewTable("stage", "seconds", "actions", "per second", "median s", "p99 s",
		"transfers", "per second", "median s", "p99 s", "median, times", "p99, times")
	var total time.Duration
	for _, stage := range stages {
		lasted := r.records.lasted[stage.id]
		total += lasted
		t.Row(r.compare(stage.title, lasted, func(m *record) bool { return m.stage == stage.id })...)
	}
	t.Row(r.compare("all", total, func(m *record) bool { return m.stage != none })...)
	return t.String()
}

// compare returns a row for the selected actions and transfers.
func (r *Result) compare(title string, lasted time.Duration, among func(*record) bool) []string {
	row := []string{title, fmt.Sprintf("%.1f", lasted.Seconds())}
	var both [2][]time.Duration
	for i, load := range []func(*record) bool{isAction, (*record).isTransfer} {
		both[i] = measured(r.records.records, confirmation, func(m *record) bool { return load(m) && among(m) })
		row = append(row, report.Count(len(both[i])), fmt.Sprintf("%.1f", float64(len(both[i]))/lasted.Seconds()))
		row = append(row, quantiles(both[i])...)
	}
	for _, percent := range []int{50, 99} {
		ratio := "–"
		if transfers := report.Quantile(both[1], percent); transfers > 0 {
			ratio = fmt.Sprintf("%.2f", report.Quantile(both[0], percent).Seconds()/transfers.Seconds())
		}
		row = append(row, ratio)
	}
	return row
}

// quantiles returns the median and the 99th percentile in seconds.
func quantiles(latencies []time.Duration) (cells []string) {
	for _, percent := range []int{50, 99} {
		cells = append(cells, fmt.Sprintf("%.2f", report.Quantile(latencies, percent).Seconds()))
	}
	return cells
}

// actionTable shows each instruction's figures in record order, and the plain transfer last.
func (r *Result) actionTable() string {
	var names []string
	for i := range r.records.records {
		if entry := &r.records.records[i]; entry.done && !entry.isTransfer() && !slices.Contains(names, entry.action) {
			names = append(names, entry.action)
		}
	}
	t := report.NewTable("", "confirmed", "median s", "p99 s", "whole, median s", "whole, p99 s",
		"compute units, median")
	for _, action := range append(names, plainTransfer) {
		named := func(m *record) bool { return m.action == action }
		latencies := measured(r.records.records, confirmation, named)
		t.Row(slices.Concat([]string{"`" + action + "`", report.Count(len(latencies))},
			quantiles(latencies), quantiles(measured(r.records.records, whole, named)),
			[]string{report.Count(report.Quantile(measured(r.records.records, units, named), 50))})...)
	}
	return t.String()
}

// requestTable shows the number of requests to the node per attempt.
func (r *Result) requestTable() string {
	attempts := map[bool]int{}
	for i := range r.records.records {
		attempts[r.records.records[i].isTransfer()]++
	}
	t := report.NewTable("", "action", "transfer")
	row := func(name string, counts [2]int) {
		t.Row(name, perAttempt(counts[0], attempts[false]), perAttempt(counts[1], attempts[true]))
	}
	var all [2]int
	methods := maps.Clone(r.parties.requests)
	maps.Copy(methods, r.payers.requests)
	for _, method := range slices.Sorted(maps.Keys(methods)) {
		counts := [2]int{r.parties.requests[method], r.payers.requests[method]}
		row(method, counts)
		all = [2]int{all[0] + counts[0], all[1] + counts[1]}
	}
	row("all", all)
	return t.String()
}

func perAttempt(requests, attempts int) string {
	return fmt.Sprintf("%.2f", float64(requests)/float64(max(attempts, 1)))
}

func (r *Result) outcomeTable() (text string, allConfirmed bool) {
	counts := map[string][2]int{confirmed: {}}
	for i := range r.records.records {
		entry := &r.records.records[i]
		count := counts[entry.outcome]
		if entry.isTransfer() {
			count[1]++
		} else {
			count[0]++
		}
		counts[entry.outcome] = count
	}
	t := report.NewTable("outcome", "actions", "transfers")
	for _, outcome := range slices.Sorted(maps.Keys(counts)) {
		t.Row(outcome, report.Count(counts[outcome][0]), report.Count(counts[outcome][1]))
	}
	return t.String(), len(counts) == 1
}

func (r *Result) accountTable(title string, accounts []commonAccount) string {
	t := report.NewTable(title, "transactions", "of which write")
	for _, account := range accounts {
		t.Row(r.name(account), report.Count(account.transactions), report.Count(account.written))
	}
	return t.String()
}

func (r *Result) name(account commonAccount) string {
	if name := r.accountNames()[account.address]; name != "" {
		return name
	}
	return "`" + account.address.String() + "`"
}
