package engine_test

import (
	"fmt"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/terms"
)

// A client asks for a license twice. The second proposal scores 0.92 and is accepted.
func Example() {
	strategy, err := engine.ParseStrategy([]byte(`{"min_price_per_fetch_micro": 1000,
		"preferred_price_per_fetch_micro": 2000, "max_price_per_fetch_micro": 5000}`))
	if err != nil {
		panic(err)
	}
	var state engine.State
	for _, price := range []uint64{1500, 1800} {
		proposal := terms.Terms{
			Price: price, TTLSeconds: 600, BurstRPS: 10, Purposes: []terms.Purpose{terms.Inference},
		}
		decision, err := engine.Respond(&strategy, state, proposal)
		if err != nil {
			panic(err)
		}
		state = state.Next(proposal, decision)
		fmt.Println(decision.Action, terms.Decimal(decision.Terms.Price), decision.Analysis.Score.Total)
	}
	// Output:
	// counter 0.00275 0.8
	// accept 0.0018 0.92
}
