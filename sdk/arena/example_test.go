package arena_test

import (
	"fmt"
	"time"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

func Example() {
	opens := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	market, err := arena.New(arena.Config{
		Market: "likes", Question: "50,000 likes?", Opens: opens, Closes: opens.Add(time.Hour), Operator: "operator",
		Resolver: "resolver", Grant: 100 * arena.SetPrice,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, action := range []arena.Action{arena.Join{Name: "degen"}, arena.Split{Sets: 30}, arena.Split{Sets: 90}} {
		events, err := market.Apply(arena.Input{At: opens, Agent: "degen", Action: action})
		fmt.Println(len(events), err)
	}
	review, _ := market.Review("degen")
	fmt.Println(review.Holding.Money, review.Holding.Yes)
	// Output:
	// 1 <nil>
	// 1 <nil>
	// 0 arena: funds: 90.00 needed, 70.00 available
	// 70.00 30
}
