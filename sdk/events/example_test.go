package events_test

import (
	"fmt"
	"log"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/events"
)

// A node without a WebSocket interface is polled for new transactions every two seconds.
func ExampleNewPolling() {
	client, err := haggle.NewClient(haggle.Config{
		Endpoint: "https://rpc.example.org",
		Source:   events.NewPolling(2 * time.Second),
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
}

func ExampleCallsProgram() {
	program := solana.MustPublicKeyFromBase58("Hag1Z1rRT8aAUR9VbjNLdDQ2iSw8nkW3rtVfAHbe4JDT")
	fmt.Println(events.CallsProgram([]string{"Program " + program.String() + " invoke [1]"}, program))
	fmt.Println(events.CallsProgram([]string{"Program ComputeBudget111111111111111111111111111111 invoke [1]"}, program))
	fmt.Println(events.CallsProgram([]string{"Log truncated"}, program))
	// Output:
	// true
	// false
	// true
}
