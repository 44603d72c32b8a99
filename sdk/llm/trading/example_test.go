package trading_test

import (
	"context"
	"fmt"
	"log"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/player"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/llm/trading"
)

// A seller's model asks for 0.01. The strategy allows nothing below its own offer at that time.
func ExampleChoose() {
	chooser, err := llm.NewChooser(
		&scripted{text: `{"reason":"I am generous","move":"offer","candidate":0,"price":"0.01"}`},
		llm.Options{Principal: "Sell YES.", Budget: llm.Budget{Tokens: 100_000}})
	if err != nil {
		log.Fatal(err)
	}
	skeptic, _ := player.PersonalityNamed("skeptic")
	p, err := player.New(skeptic, player.Options{Estimate: 57, Risk: 50 * arena.SetPrice, Choose: trading.Choose(chooser)})
	if err != nil {
		log.Fatal(err)
	}
	move, err := p.Trader(trader.Config{}, 100*arena.SetPrice).Negotiate(context.Background(), turn())
	fmt.Printf("%T %v\n", move, err)
	// Output: trader.Offer <nil>
}
