package party_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/party"
)

// A worker quotes by a strategy, unless the task has requirements that it cannot meet.
func Example() {
	player := party.Player{Strategy: strategy.Linear(), Opening: 6_000_000, Reservation: 3_000_000}
	quote := func(ctx context.Context, turn party.Turn) (party.Move, error) {
		if len(turn.Text.Requirements) > 3 {
			return party.Reject{Code: "too_many_requirements"}, nil
		}
		return player.Decide(ctx, turn)
	}

	// The runtime of NewWorker calls it with a turn such as this one.
	move, err := quote(context.Background(), party.Turn{
		Role: hire.RoleWorker, Asset: hire.Asset{Symbol: "USDC", Decimals: 6},
		Offers: []party.Offer{{By: hire.RoleSeeker, Price: 3_500_000, Deadline: time.Now().Add(time.Hour)}},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%T of %d base units\n", move, move.(party.Propose).Price)
	// Output: party.Propose of 6000000 base units
}
