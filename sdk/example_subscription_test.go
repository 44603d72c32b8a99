package haggle_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// A negotiation's history contains all events, even once it is closed.
func ExampleClient_History() {
	var (
		ctx     context.Context
		client  *haggle.Client
		address solana.PublicKey
	)
	for envelope, err := range client.History(ctx, address) {
		if err != nil {
			log.Fatal(err)
		}
		switch event := envelope.Event.(type) {
		case *protocol.OfferSubmitted:
			fmt.Printf("slot %d: %s offers %d in round %d\n", envelope.Slot, event.Offerer, event.Amount,
				event.Round)
		case *protocol.NegotiationSettled:
			fmt.Printf("slot %d: settled at %d\n", envelope.Slot, event.SettledAmount)
		}
	}
}

// A stopped agent continues behind the last handled event, and does not act on an old state.
func ExampleSubscription_Lag() {
	var (
		ctx    context.Context
		client *haggle.Client
		me     solana.PublicKey
		last   solana.Signature // stored when the event was handled
	)
	subscription, err := client.WatchAgent(ctx, me, haggle.After(last))
	if err != nil {
		log.Fatal(err)
	}
	defer subscription.Close()
	for envelope := range subscription.Events() {
		if lag := subscription.Lag(); lag.Time > 10*time.Second {
			log.Printf("behind by %d slots, %s; %d events wait", lag.Slots, lag.Time, lag.Held)
		}
		fmt.Println(envelope.Slot, envelope.Negotiation, envelope.Event.EventName())
	}
	log.Print(subscription.Err())
}
