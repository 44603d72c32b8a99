package client_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log"

	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/client"
)

func Example() {
	ctx := context.Background()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		log.Fatal(err)
	}
	agent, err := client.Dial(ctx, client.Config{
		URL: "wss://arena.example/arena/likes", Key: key, Operator: "4uQeVj5tqViQh7yWWGStvkEG1Zmhx6uasJtWCJziofM",
	})
	if err != nil {
		log.Fatal(err)
	}
	defer agent.Close()
	if _, err := agent.Do(ctx, arena.Join{Name: "degen"}); err != nil {
		log.Fatal(err)
	}
	for {
		event, err := agent.Next(ctx)
		if err != nil {
			log.Fatal(err)
		}
		switch fact := event.Fact.(type) {
		case arena.Said:
			fmt.Printf("%s: %q\n", fact.Agent, fact.Text)
		case arena.Resolved:
			return
		}
	}
}
