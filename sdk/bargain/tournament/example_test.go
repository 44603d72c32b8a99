package tournament_test

import (
	"context"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

func Example() {
	plan := &tournament.Plan{
		Entrants: []tournament.Entrant{
			{Name: "micro", Strategy: strategy.MiCRO()}, {Name: "linear", Strategy: strategy.Linear()},
			{Name: "conceder", Strategy: strategy.GeniusConceder()},
		},
		Scenarios: tournament.Random{Seed: 1, Count: 10},
		Seed:      1,
	}
	stats := plan.NewStats()
	err := plan.Run(context.Background(), 0, 0, func(block *tournament.Block) error {
		stats.Add(block)
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, score := range stats.Scores() {
		fmt.Printf("%s %.2f +- %.2f\n", score.Name, score.Advantage.Float(), score.Margin.Float())
	}
	// Output:
	// linear 0.81 +- 0.11
	// micro 0.74 +- 0.19
	// conceder 0.69 +- 0.19
}
