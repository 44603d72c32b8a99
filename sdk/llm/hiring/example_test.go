package hiring_test

import (
	"context"
	"fmt"
	"log"

	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/hire/party"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/hiring"
)

// A worker's model offers 1 USDC for a task. The band begins at what the strategy asks for, so that is proposed.
func ExampleChoose() {
	chooser, err := llm.NewChooser(
		&scripted{text: `{"reason":"I am generous","move":"offer","candidate":0,"price":"1"}`},
		llm.Options{Principal: "Sell logos.", Budget: llm.Budget{Tokens: 100_000}})
	if err != nil {
		log.Fatal(err)
	}
	player := party.Player{
		Strategy: strategy.Linear(), Opening: 6e6, Reservation: 4e6, Choose: hiring.Choose(chooser),
	}
	move, err := player.Decide(context.Background(), turn(turnLength))
	fmt.Println(move.(party.Propose).Price, err)
	// Output: 6000000 <nil>
}
