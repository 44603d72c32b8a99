package policy

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/gagliardetto/solana-go"
)

// Total is what has been spent in one mint.
type Total struct {
	// Account is the negotiation that it was spent on, or the counterparty that it was spent with; zero for a day's total.
	Account solana.PublicKey
	// Mint is what it is in; zero for lamports.
	Mint solana.PublicKey
	// Amount is in base units of the mint, or in lamports.
	Amount uint64
}

// Totals are what a wallet has used of its limits, as its records add up.
type Totals struct {
	// Wallet is whose they are; zero if there are no records.
	Wallet solana.PublicKey
	// Open is how many messages are counted whose outcome is not known yet.
	Open int
	// Day is when the day began that Today is about, in UTC.
	Day time.Time
	// Today are totals of the day, Negotiations and Counterparties of all days, each by account and mint, without those that are zero.
	Today, Negotiations, Counterparties []Total
}

// TotalsOf adds up records, such as those of [ReadFile]: what has been spent on the day that counts now, and altogether.
func TotalsOf(records []Record, now time.Time) (Totals, error) {
	used := newUsage()
	var totals Totals
	for _, record := range records {
		if err := used.apply(record); err != nil {
			return Totals{}, fmt.Errorf("haggle: policy: usage: %w", err)
		}
		totals.Wallet = record.Wallet
	}
	if err := used.prune(now); err != nil {
		return Totals{}, fmt.Errorf("haggle: policy: usage: %w", err)
	}
	totals.Open = len(used.messages)
	day := max(dayOf(now), used.day)
	totals.Day = time.Unix(day*secondsPerDay, 0).UTC()
	for mint := range used.today {
		if amount := used.usedOn(day, mint); amount > 0 {
			totals.Today = append(totals.Today, Total{Mint: mint, Amount: amount})
		}
	}
	slices.SortFunc(totals.Today, compareTotals)
	totals.Negotiations, totals.Counterparties = sortedTotals(used.negotiations), sortedTotals(used.counterparties)
	return totals, nil
}

func sortedTotals(amounts map[with]uint64) (totals []Total) {
	for key, amount := range amounts {
		if amount > 0 {
			totals = append(totals, Total{Account: key.account, Mint: key.mint, Amount: amount})
		}
	}
	slices.SortFunc(totals, compareTotals)
	return totals
}

func compareTotals(a, b Total) int {
	return cmp.Or(bytes.Compare(a.Account[:], b.Account[:]), bytes.Compare(a.Mint[:], b.Mint[:]))
}
