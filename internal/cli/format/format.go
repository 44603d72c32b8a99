// Package format writes values for people: rows in columns, times and shares.
package format

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/internal/cli/duration"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Rows are a description: names and values. A row with an empty value is not written.
type Rows [][2]string

// Table writes rows in columns under a header, without spaces at the ends of lines.
func Table(header []string, rows [][]string) string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{header}, rows...) {
		fmt.Fprintln(table, strings.Join(row, "\t"))
	}
	_ = table.Flush()
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// String formats a row per line, indented, with all values aligned in a column. Further lines of a value are
// aligned to the same column.
func (r Rows) String() string {
	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range r {
		if row[1] != "" {
			fmt.Fprintf(table, "  %s\t%s\n", row[0], strings.ReplaceAll(row[1], "\n", "\n\t"))
		}
	}
	_ = table.Flush()
	return strings.TrimSuffix(text.String(), "\n")
}

// Short abbreviates an address in the middle: "4uQe…Vj3k". The result does not identify an account; write it
// only if --json or a show command prints the full address.
func Short(address solana.PublicKey) string {
	const shown = 4
	text := address.String()
	if len(text) <= 2*shown {
		return text
	}
	return text[:shown] + "…" + text[len(text)-shown:]
}

// When formats a chain time and the distance from now, both in Unix seconds: "14:03:05 CET, in 4m". It uses
// local time. The date is left out if it is today's.
func When(second, now int64) string {
	at := time.Unix(second, 0)
	layout := "15:04:05 MST"
	if at.Format(time.DateOnly) != time.Unix(now, 0).Format(time.DateOnly) {
		layout = "2006-01-02 15:04:05 MST"
	}
	return at.Format(layout) + ", " + Distance(second-now)
}

// Distance writes the seconds from now to a time: "in 4m", "4m ago" or "now".
func Distance(seconds int64) string {
	switch {
	case seconds > 0:
		return "in " + Coarse(seconds)
	case seconds < 0:
		return Coarse(-seconds) + " ago"
	}
	return "now"
}

// Coarse formats a number of seconds in units that matter for the size: hours for a day, minutes for an hour.
// It rounds down, so a deadline is never written later than it is.
func Coarse(seconds int64) string {
	length, unit := time.Duration(seconds)*time.Second, time.Second
	switch {
	case length >= 24*time.Hour:
		unit = time.Hour
	case length >= 10*time.Minute:
		unit = time.Minute
	}
	return duration.Format(length.Truncate(unit))
}

// Clock formats an event's local time, given in Unix seconds: "14:03:05". The date is included unless it is
// today's.
func Clock(second, today int64) string {
	at := time.Unix(second, 0)
	if at.Format(time.DateOnly) == time.Unix(today, 0).Format(time.DateOnly) {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// Percent writes basis points without rounding: "1.5%".
func Percent(bps uint16) string {
	text := strings.TrimRight(fmt.Sprintf("%d.%02d", bps/100, bps%100), "0")
	return strings.TrimSuffix(text, ".") + "%"
}

// Side writes a side in lower case: "buyer".
func Side(side protocol.OfferSide) string { return strings.ToLower(side.String()) }
