package llm_test

import (
	"context"
	"fmt"
	"log"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/llm"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// scripted is a model that always returns the same response.
type scripted string

func (scripted) Name() string { return "test:scripted" }

func (s scripted) Respond(context.Context, llm.Request) (*llm.Response, error) {
	return &llm.Response{JSON: []byte(s), Usage: llm.Usage{InputTokens: 120, OutputTokens: 9, Known: true}}, nil
}

// A model for tests needs no API.
func ExampleModel() {
	var model llm.Model = scripted(`{"move":"accept"}`)
	response, err := model.Respond(context.Background(), llm.Request{Input: "{}", MaxTokens: 100})
	fmt.Println(model.Name(), string(response.JSON), response.Usage.OutputTokens, err)
	// Output: test:scripted {"move":"accept"} 9 <nil>
}

// A seller's model offers 1 token. The band begins at what the strategy asks for, so that is offered.
func ExampleNewPlayer() {
	player, err := llm.NewPlayer(
		scripted(`{"reason":"I am generous","move":"offer","candidate":0,"price":"1"}`),
		llm.Options{
			Principal: "Sell a summary.", Opening: 4_500_000, Budget: llm.Budget{Tokens: 100_000},
			Decided: func(r llm.Record) error {
				fmt.Printf("%s %s: %s\n", r.Move.Move, r.Move.Offer.Price, r.Correction)
				return nil
			},
		})
	if err != nil {
		log.Fatal(err)
	}
	decision, err := player.Decide(context.Background(), turnOfASeller())
	fmt.Println(decision.(agent.Offer).Amount, err)
	// Output:
	// offer 4.5: raised to the least utility of the band
	// 4500000 <nil>
}

// turnOfASeller is a turn of a seller that wants at least 3 tokens after the fee. The buyer has offered 2.
func turnOfASeller() agent.Turn {
	n := &haggle.Snapshot{}
	n.Status, n.EscrowAmount, n.EffectiveEscrow = protocol.NegotiationStatusProposed, 5_000_000, 5_000_000
	n.Buyer, n.Seller, n.CurrentOfferBy = solana.PublicKey{1}, solana.PublicKey{2}, solana.PublicKey{1}
	n.MaxRounds, n.CurrentRound, n.CurrentOfferAmount = 6, 1, 2_000_000
	n.GlobalDeadline, n.ResponseWindow = 3_600, 300
	return agent.Turn{
		Negotiation: n, Side: protocol.OfferSideSeller, Now: 10, Deadline: 310,
		History: []agent.PastOffer{{Round: 1, Amount: 2_000_000}},
		Limits:  agent.Limits{Decimals: 6, MinPrice: 3_000_000},
	}
}
