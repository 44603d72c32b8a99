package analysis_test

import (
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain/analysis"
)

// The buyer concedes late, the seller in equal steps.
func Example() {
	prices := analysis.Prices{
		Escrow: 1_000_000, MaxRounds: 10, Agreed: true, Price: 500_000,
		Offers: []uint64{200_000, 800_000, 201_000, 725_000, 216_000, 650_000, 281_000, 575_000, 456_000, 500_000},
	}
	record, err := prices.Record()
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := analysis.Analyze(record)
	if err != nil {
		fmt.Println(err)
		return
	}
	for party, name := range []string{"buyer", "seller"} {
		p := a.Parties[party]
		fmt.Printf("%s: %s, e = %.2f; %d concessions, conceded %.2f\n", name, p.Fits[0].Model, p.Fits[0].Exponent,
			p.Steps[analysis.Concession], p.Conceded)
	}
	// Output:
	// buyer: boulware, e = 0.25; 4 concessions, conceded 0.50
	// seller: linear, e = 1.00; 4 concessions, conceded 0.50
}
