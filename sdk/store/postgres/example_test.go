package postgres_test

import (
	"context"
	"log"

	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/store/postgres"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// Processes on several machines sign for the same wallet. Together they never exceed a limit.
func ExampleOpen() {
	var (
		ctx    context.Context
		key    *wallet.Keypair
		limits policy.Config
	)
	state, err := postgres.Open(ctx, "postgres://agent@db.example/agents")
	if err != nil {
		log.Fatal(err)
	}
	defer state.Close()
	limits.Store = state
	signer, err := policy.New(ctx, key, limits)
	if err != nil {
		log.Fatal(err)
	}
	log.Println("limited wallet", signer.PublicKey())
}
