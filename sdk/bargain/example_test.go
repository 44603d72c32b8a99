package bargain_test

import (
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/mechanism"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// A buyer and a seller bargain over a price. The buyer concedes late, the seller early.
func Example() {
	domain, _ := bargain.NewDomain(bargain.Price("price", 100, 200, 1))
	cheap, _ := utility.PriceLine(domain, false)
	dear, _ := utility.PriceLine(domain, true)
	buyer, _ := bargain.NewPreferences(domain, cheap, 0)
	seller, _ := bargain.NewPreferences(domain, dear, 0)
	result, err := mechanism.Alternating{Steps: 50}.Run(1,
		mechanism.Party{Strategy: strategy.NegmasBoulware(), Preferences: buyer},
		mechanism.Party{Strategy: strategy.NegmasConceder(), Preferences: seller})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Ending, "at", domain.Text(result.Agreement), "after", len(result.History), "offers")
	// Output: agreement at price=113 after 60 offers
}
