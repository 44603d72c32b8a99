package yellowstone_test

import (
	"log"
	"os"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/yellowstone"
)

// Geyser sends hints of transactions, which are read from a JSON-RPC node.
func ExampleNew() {
	source, err := yellowstone.New(yellowstone.Config{
		Endpoint: "https://grpc.example.com:10000",
		Token:    os.Getenv("GEYSER_TOKEN"),
	})
	if err != nil {
		log.Fatal(err)
	}
	client, err := haggle.NewClient(haggle.Config{Endpoint: "https://rpc.example.com", Source: source})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
}
