package solution_test

import (
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/fixed"
	"github.com/haggle-protocol/haggle/sdk/bargain/solution"
	"github.com/haggle-protocol/haggle/sdk/bargain/utility"
)

// Two parties bargain over price and delivery. Fast delivery is worth more to the buyer than the seller's
// cost.
func Example() {
	domain, _ := bargain.NewDomain(bargain.Integer("price", 0, 10), bargain.Ordered("delivery", "slow", "fast"))
	line := func(first, last int64) utility.Line {
		return utility.Line{First: fixed.Int(first), Last: fixed.Int(last), Count: 11}
	}
	cheapAndFast, _ := utility.NewAdditive(domain, 0, nil, line(10, 0), utility.Table{0, fixed.Int(8)})
	dearAndSlow, _ := utility.NewAdditive(domain, 0, nil, line(0, 10), utility.Table{fixed.Int(2), 0})
	buyer, _ := bargain.NewPreferences(domain, cheapAndFast, fixed.Int(4))
	seller, _ := bargain.NewPreferences(domain, dearAndSlow, fixed.Int(2))
	problem, err := solution.New(buyer, seller)
	if err != nil {
		fmt.Println(err)
		return
	}
	nash := problem.Nash()[0]
	fmt.Println(domain.Text(nash.Outcome), nash.Utilities)
	slow := domain.Outcome(5, 0)
	utilities := [2]fixed.Number{buyer.Of(slow), seller.Of(slow)}
	fmt.Println(domain.Text(slow), utilities, "efficient:", problem.IsEfficient(utilities))
	// Output:
	// price=8, delivery=fast [10 8]
	// price=5, delivery=slow [5 7] efficient: false
}
