package admin_test

import (
	"context"
	"log"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/admin"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

var (
	ctx       context.Context
	client    *haggle.Client
	authority *wallet.Keypair
)

// The program's upgrade authority initializes the protocol once, after the deployment.
func ExampleInitializeConfig() {
	action, err := admin.InitializeConfig(client, admin.InitializeConfigRequest{
		Authority: authority.PublicKey(), Treasury: solana.PublicKey{},
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := action.Do(ctx, authority); err != nil {
		log.Fatal(err)
	}
}

// The authority changes the defaults of later negotiations. Existing ones keep their fee and terms.
func ExampleUpdateConfig() {
	action, err := admin.UpdateConfig(ctx, client, admin.UpdateConfigRequest{
		Authority: authority.PublicKey(), ProtocolFeeBps: new(uint16(75)), ResponseWindow: 10 * time.Minute,
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := action.Do(ctx, authority); err != nil {
		log.Fatal(err)
	}
}

// A pause stops creations only: existing negotiations continue, settle and close.
func ExampleSetPaused() {
	action, err := admin.SetPaused(client, admin.SetPausedRequest{
		Authority: authority.PublicKey(), Paused: true,
	})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := action.Do(ctx, authority); err != nil {
		log.Fatal(err)
	}
}
