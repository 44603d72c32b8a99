package trader_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
)

// An agent that accepts each offer of YES up to 0.60, and makes none.
func Example() {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		log.Fatal(err)
	}
	t, err := trader.New(trader.Config{
		URL: "ws://127.0.0.1:3020/arena/likes", Operator: "FUg699ghFSq3pdVSDVJqX8NCbuNQG8WRZCZyR6xzvsCo", Key: key, Name: "ada",
		Limits: trader.Limits{Yes: trader.TokenLimits{Buy: 60, Most: 100}, Keep: 40 * arena.SetPrice},
		Admit:  func(context.Context, trader.Invitation) (bool, error) { return true, nil },
		Negotiate: func(_ context.Context, turn trader.Turn) (trader.Move, error) {
			switch {
			case turn.Invalid != nil: // the offer is beyond the limits
				return trader.Leave{}, nil
			case turn.Chat.Stands && !turn.Chat.Agreed:
				return trader.Agree{}, nil
			}
			return trader.Say{Text: "Make me an offer."}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%T trades with t.Run(ctx)\n", t)
	// Output: *trader.Trader trades with t.Run(ctx)
}
