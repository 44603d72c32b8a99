package game_test

import (
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/bargain/game"
	"github.com/haggle-protocol/haggle/sdk/bargain/onchain"
)

// A service is worth 0.8 tokens to the buyer and costs the seller 0.6. The buyer makes the last offer.
func Example() {
	h := game.Haggle{Value: 800_000, Cost: 600_000, Rules: onchain.Rules{
		Escrow: 1_000_000, MaxRounds: 9, DecayRateBps: 200, MinOfferBps: 1_000, FeeBps: 50,
		ResponseWindow: 300, Deadline: 3_600,
	}}
	end := h.Equilibrium()
	fmt.Println("agreed:", end.Agreed, "price:", end.Price, "offers:", end.Offers, "decay:", end.Decay)
	p := h.Proximity(end)
	fmt.Println("Nash price:", p.Nash, "shares:", p.Buyer, p.Seller)
	// Output:
	// agreed: true price: 675402 offers: 1 decay: 20000
	// Nash price: 701507 shares: 0.52299 0.360125
}
