package demo

import (
	"fmt"
	"strings"

	"github.com/haggle-protocol/haggle/sdk/amount"
)

const (
	// pictureRows is the height of the picture; fewer if there are few offers.
	pictureRows = 11
	// roundWidth is a round's width in columns.
	roundWidth = 6
)

// picture draws the offers over the rounds: B for the buyer's, S for the seller's.
func (a *Account) picture() string {
	if len(a.Offers) == 0 {
		return ""
	}
	low, high := a.Offers[0].Amount, a.Offers[0].Amount
	for _, offer := range a.Offers {
		low, high = min(low, offer.Amount), max(high, offer.Amount)
	}
	rows := min(pictureRows, 3*len(a.Offers))
	marks, labels := make([][]byte, rows), make([]string, rows)
	for i := range marks {
		marks[i] = []byte(strings.Repeat(" ", roundWidth*len(a.Offers)))
	}
	last := 0
	for i, offer := range a.Offers {
		row := 0
		if high > low {
			row = int((high - offer.Amount) * uint64(rows-1) / (high - low))
		}
		mark := byte('S')
		if offer.Offerer == a.Created.Buyer {
			mark = 'B'
		}
		marks[row][roundWidth*i+roundWidth-2] = mark
		labels[row] = amount.Tokens{Units: offer.Amount, Decimals: a.Escrow.Decimals}.Decimal()
		last = row
	}
	var text strings.Builder
	for row, mark := range marks {
		line := strings.TrimRight(string(mark), " ")
		if row == last && a.Settled != nil {
			line += "  accepted"
		}
		fmt.Fprintln(&text, strings.TrimRight(fmt.Sprintf("%10s |%s", labels[row], line), " "))
	}
	fmt.Fprintf(&text, "%10s +%s\n%10s  ", "", strings.Repeat("-", roundWidth*len(a.Offers)+roundWidth-1), "round")
	for _, offer := range a.Offers {
		fmt.Fprintf(&text, "%*d ", roundWidth-1, offer.Round)
	}
	return strings.TrimRight(text.String(), " ") + "\n"
}
