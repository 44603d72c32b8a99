package preflight_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/internal/preflight"
)

// A buyer is checked before it starts. Problems come with a next step.
func ExampleRun() {
	var (
		ctx         context.Context
		client      *haggle.Client
		buyer, mint solana.PublicKey
	)
	for result := range preflight.Run(ctx, preflight.Config{
		Client: client, Wallet: buyer, Mints: []solana.PublicKey{mint}, Role: preflight.RoleBuyer,
		Patience: 10 * time.Second,
	}) {
		fmt.Println(result.Check, result.Status, result.Text)
		if result.Advice != "" {
			fmt.Println("  " + result.Advice)
		}
	}
}
