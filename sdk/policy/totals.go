package policy

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
)

// Total is an amount spent, with the mint.
type Total struct {
	// Account is the spends' negotiation or counterparty. Daily totals lack it.
	Account solana.PublicKey
	// Mint is the amount's mint. Lamports use the zero key.
	Mint solana.PublicKey
	// Amount is the amount in the mint's base units, or in lamports.
	Amount uint64
}

// Totals is the used part of wallet limits, summed over all records.
type Totals struct {
	// Wallet is the records' wallet. If no record exists, it is the zero key.
	Wallet solana.PublicKey
	// Open is the number of counted messages with an unknown outcome.
	Open int
	// Day is the beginning of the day of Today, in UTC.
	Day time.Time
	// Today holds the day's totals, Negotiations and Counterparties the totals over all days, each by account
	// and mint. Totals of zero are left out.
	Today, Negotiations, Counterparties []Total
}

// TotalsOf sums [Log] records: the amounts spent on the present day, and altogether.
func TotalsOf(records []Record, now time.Time) (Totals, error) {
	used := newSnapshot()
	var totals Totals
	for _, record := range records {
		if err := used.apply(record); err != nil {
			return Totals{}, fmt.Errorf("haggle: policy: usage: %w", err)
		}
		totals.Wallet = record.Wallet
	}
	used.prune(now)
	totals.Open = len(used.Messages)
	day := max(dayOf(now), used.Day)
	totals.Day = time.Unix(day*secondsPerDay, 0).UTC()
	for mint := range used.Today {
		if amount := used.usedOn(day, mint); amount > 0 {
			totals.Today = append(totals.Today, Total{Mint: mint, Amount: amount})
		}
	}
	slices.SortFunc(totals.Today, compareTotals)
	totals.Negotiations, totals.Counterparties = sortedTotals(used.Negotiations), sortedTotals(used.Counterparties)
	return totals, nil
}

func sortedTotals(amounts map[Scope]uint64) (totals []Total) {
	for key, amount := range amounts {
		if amount > 0 {
			totals = append(totals, Total{Account: key.Account, Mint: key.Mint, Amount: amount})
		}
	}
	slices.SortFunc(totals, compareTotals)
	return totals
}

func compareTotals(a, b Total) int {
	return cmp.Or(bytes.Compare(a.Account[:], b.Account[:]), bytes.Compare(a.Mint[:], b.Mint[:]))
}
