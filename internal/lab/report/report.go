// Package report contains the common parts of written reports: pages, tables, numbers, quantiles, plots,
// findings, the description of the machine, and the processor time.
package report

import (
	"bufio"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"text/template"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"
)

// Count formats a number with commas between thousands: 10,000.
func Count[N int | int64 | uint64](number N) string { return humanize.Comma(int64(number)) }

// Counted writes a number of things, such as "1 session" or "1,000 sessions". If plural is empty, it is the
// singular with an s.
func Counted(number int, singular, plural string) string {
	return Count(number) + " " + english.PluralWord(number, singular, plural)
}

// Fill returns a page's text: a template filled with values. Besides the given functions, the template can
// call count, which formats an integer of any type as [Count] does.
func Fill(text string, functions template.FuncMap, values any) (string, error) {
	count := func(number any) string {
		if value := reflect.ValueOf(number); value.CanUint() {
			return Count(value.Uint())
		}
		return Count(reflect.ValueOf(number).Int())
	}
	page, err := template.New("page").Funcs(template.FuncMap{"count": count}).Funcs(functions).Parse(text)
	if err != nil {
		return "", err
	}
	var filled strings.Builder
	err = page.Execute(&filled, values)
	return filled.String(), err
}

// Table is a Markdown table. It aligns every column except the first to the right.
type Table struct {
	columns int
	text    strings.Builder
}

// NewTable returns an empty table with these columns.
func NewTable(columns ...string) *Table {
	t := &Table{columns: len(columns)}
	t.Row(columns...)
	t.text.WriteString("|---" + strings.Repeat("|---:", len(columns)-1) + "|\n")
	return t
}

// Row appends a row. It panics if the number of cells is not the number of columns.
func (t *Table) Row(cells ...string) {
	if len(cells) != t.columns {
		panic(fmt.Sprintf("report: %d cells in a table of %d columns", len(cells), t.columns))
	}
	for _, cell := range cells {
		t.text.WriteString(strings.TrimRight("| "+cell, " ") + " ")
	}
	t.text.WriteString("|\n")
}

// String returns the table as Markdown.
func (t *Table) String() string { return t.text.String() }

// Quantile returns the smallest of the sorted values such that at least this percentage of values do not
// exceed it: the nearest rank. It returns the zero value if there are no values.
func Quantile[T any](sorted []T, percent int) (value T) {
	if len(sorted) == 0 {
		return value
	}
	rank := (len(sorted)*percent + 99) / 100
	return sorted[max(rank, 1)-1]
}

// Machine describes the machine without names: "2 cores, 23 GiB of memory, linux/amd64, go1.26.0".
func Machine() string {
	machine := fmt.Sprintf("%d cores", runtime.NumCPU())
	if gibibytes := memory() >> 30; gibibytes > 0 {
		machine += fmt.Sprintf(", %d GiB of memory", gibibytes)
	}
	return machine + fmt.Sprintf(", %s/%s, %s", runtime.GOOS, runtime.GOARCH, runtime.Version())
}

// memory returns the machine's memory in bytes. It returns zero if the system lacks /proc/meminfo.
func memory() uint64 {
	file, err := os.Open("/proc/meminfo")
	if err != nil {
		return 0
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if rest, ok := strings.CutPrefix(lines.Text(), "MemTotal:"); ok {
			var kibibytes uint64
			if _, err := fmt.Sscan(rest, &kibibytes); err == nil {
				return kibibytes << 10
			}
		}
	}
	return 0
}

// ProcessorTime returns the processor time used by this process (syscall.RUSAGE_SELF) or by ended child
// processes (syscall.RUSAGE_CHILDREN).
func ProcessorTime(who int) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(who, &usage); err != nil {
		panic(err) // no failure is expected
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
