package player_test

import (
	"fmt"
	"log"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/player"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
)

// A scholar who believes in YES with 62 % buys it for up to 0.58 and sells it from 0.66 on. It risks 60.00
// out of 100.00 granted.
func ExamplePlayer_Trader() {
	scholar, _ := player.PersonalityNamed("scholar")
	p, err := player.New(scholar, player.Options{Estimate: 62, Risk: 60 * arena.SetPrice})
	if err != nil {
		log.Fatal(err)
	}
	config := p.Trader(trader.Config{Name: "ada"}, 100*arena.SetPrice)
	fmt.Println(config.Limits.Yes.Buy, config.Limits.Yes.Sell, config.Limits.No.Buy, config.Limits.Keep)
	// Output: 0.58 0.66 0.34 40.00
}
