package hire_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log"
	"time"

	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// A worker receives a proposal and counters with a different price.
func Example() {
	seekerKey := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	_, workerKey, err := ed25519.GenerateKey(nil)
	if err != nil {
		log.Fatal(err)
	}
	now := time.Date(2026, 1, 30, 10, 0, 0, 0, time.UTC)
	proposal, err := hire.Sign(seekerKey, hire.Draft{
		From: "seeker", To: "worker", At: now, Conversation: "conv_1",
		Payload: &hire.Proposal{
			Task: hire.NewText("Design a logo"), Budget: "4 USDC", Deadline: hire.NewTime(now.Add(24 * time.Hour)),
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	received, err := hire.Parse(proposal.Text())
	if err != nil {
		log.Fatal(err)
	}
	if err := received.Verify(seekerKey.Public().(ed25519.PublicKey)); err != nil {
		log.Fatal(err)
	}
	state, err := hire.State{}.Next(received, now, hire.Rules{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(state.Phase, state.Terms.Price, "until", state.Due.Format(time.TimeOnly))

	counter, err := hire.Sign(workerKey, hire.Draft{
		From: "worker", To: "seeker", At: now, Conversation: "conv_1",
		Payload: &hire.Counter{
			Reply: hire.Reply{InReplyTo: state.Last}, Price: "5 USDC", EstimatedDelivery: state.Terms.Deadline,
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	state, err = state.Next(counter, now, hire.Rules{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(state.Phase, state.Terms.Price, "offered by the", state.TermsBy)
	// Output:
	// NEGOTIATING 4 USDC until 10:01:00
	// NEGOTIATING 5 USDC offered by the worker
}

// A seeker follows conversations at a worker's home. If it crashes, it continues at the same position.
func ExampleHome() {
	ctx := context.Background()
	state, err := sqlite.Open(ctx, "/var/lib/seeker/state.db")
	if err != nil {
		log.Fatal(err)
	}
	defer state.Close()
	_, key, err := ed25519.GenerateKey(nil) // the agent's own, from a file
	if err != nil {
		log.Fatal(err)
	}
	home := &hire.Home{
		Origin: "https://designer.example", Agent: hire.Address(key.Public().(ed25519.PublicKey)), Key: key,
	}
	resolver := &hire.Resolver{Pins: state.HirePins()}

	open, err := home.Conversations(ctx, hire.ConversationQuery{Open: true})
	if err != nil {
		log.Fatal(err)
	}
	for _, conversation := range open.Conversations {
		history, err := home.Log(ctx, conversation.ID, conversation.Seeker)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(conversation.ID, len(history.Arrivals), "messages")
	}
	for event, err := range home.Events(ctx, open.Latest) {
		if err == nil {
			err = resolver.Verify(ctx, event.Message)
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(event.Number, event.Message.Payload().Type())
	}
}
