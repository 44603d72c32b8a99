// Package report has the common parts of the written reports: tables, numbers, quantiles, plots, and the
// description of the machine.
package report

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/dustin/go-humanize"
)

// Count formats a number with commas between thousands: 10,000.
func Count[N int | int64 | uint64](number N) string { return humanize.Comma(int64(number)) }

// Table is a Markdown table. It aligns every column except the first to the right.
type Table struct {
	columns int
	text    strings.Builder
}

// NewTable returns a table with these columns and no rows.
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

// Quantile returns the smallest of the sorted values that at least this percentage of them do not exceed: the
// nearest rank. It returns the zero value if there are no values.
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

// memory returns the machine's memory in bytes; zero if the system has no /proc/meminfo.
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
