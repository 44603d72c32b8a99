package policy

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
)

// Total is the amount spent in one mint.
type Total struct {
	// Account is the negotiation or the counterparty of the spends; zero for the total of a day.
	Account solana.PublicKey
	// Mint is the mint of the amount; zero for lamports.
	Mint solana.PublicKey
	// Amount is in base units of the mint, or in lamports.
	Amount uint64
}

// Totals is the used part of a wallet's limits, summed over its records.
type Totals struct {
	// Wallet is the wallet of the records; zero if there are no records.
	Wallet solana.PublicKey
	// Open is the number of counted messages whose outcome is not known yet.
	Open int
	// Day is the beginning of the day of Today, in UTC.
	Day time.Time
	// Today are the totals of the day, Negotiations and Counterparties those of all days, each by account and
	// mint. Totals of zero are left out.
	Today, Negotiations, Counterparties []Total
}

// TotalsOf sums the records of a [Log]: the amounts spent on the present day, and altogether.
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
