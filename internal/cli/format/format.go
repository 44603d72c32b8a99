// Package format writes values for people: rows in columns, times and shares.
package format

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// Rows are a description: names and values. A row with an empty value is not written.
type Rows [][2]string

// String writes a row per line, indented, with the values in one column. Further lines of a value stand in
// the same column.
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

// Clock writes a time of the chain, in Unix seconds, in UTC.
func Clock(second int64) string { return time.Unix(second, 0).UTC().Format("2006-01-02 15:04:05 UTC") }

// Percent writes basis points without rounding: "1.5%".
func Percent(bps uint16) string {
	text := strings.TrimRight(fmt.Sprintf("%d.%02d", bps/100, bps%100), "0")
	return strings.TrimSuffix(text, ".") + "%"
}

// Side writes a side in lower case: "buyer".
func Side(side protocol.OfferSide) string { return strings.ToLower(side.String()) }
