package amount_test

import (
	"fmt"
	"log"

	"github.com/haggle-protocol/haggle/sdk/amount"
)

// Amounts are written as tokens or as base units. The mint's decimals convert them exactly.
func ExampleParse() {
	for _, written := range []string{"3.5", "3500000u", "0.0000001"} {
		text, err := amount.Parse(written)
		if err != nil {
			log.Fatal(err)
		}
		units, err := text.In(6)
		if err != nil {
			fmt.Printf("%s: not a whole number of base units\n", written)
			continue
		}
		fmt.Printf("%s: %d base units\n", written, units)
	}
	// Output:
	// 3.5: 3500000 base units
	// 3500000u: 3500000 base units
	// 0.0000001: not a whole number of base units
}

// Base units print as tokens, with all decimals of the mint.
func ExampleTokens() {
	fmt.Println(amount.Tokens{Units: 3_500_000, Decimals: 6})
	fmt.Println(amount.Tokens{Units: 5_000, Decimals: amount.SOLDecimals})
	// Output:
	// 3.500000
	// 0.000005000
}
