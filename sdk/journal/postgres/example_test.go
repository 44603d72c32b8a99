package postgres_test

import (
	"context"
	"log"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/journal/postgres"
)

// Processes on several machines share a journal. The password comes from PGPASSWORD or ~/.pgpass.
func ExampleOpen() {
	ctx := context.Background()
	store, err := postgres.Open(ctx, "postgres://agent@db.example/journal")
	if err != nil {
		log.Fatal(err)
	}
	defer store.Close()
	client, err := haggle.NewClient(haggle.Config{
		Endpoint: "https://api.mainnet-beta.solana.com", Journal: store,
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
}
