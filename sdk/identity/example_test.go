package identity_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/identity"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// A buyer deals with agents on an allowlist, or rated 60 of 100 points by a registry.
func ExampleGate() {
	var (
		ctx    context.Context
		seller solana.PublicKey
	)
	list, err := identity.OpenAllowlist("counterparties")
	if err != nil {
		log.Fatal(err)
	}
	registry, err := identity.NewRegistry(identity.RegistryConfig{Endpoint: "https://registry.example"})
	if err != nil {
		log.Fatal(err)
	}
	gate := identity.Gate{Source: identity.FirstOf(list, registry), Threshold: 60}
	var refusal *identity.Refusal
	if err := gate.Check(ctx, seller); errors.As(err, &refusal) {
		fmt.Println("no deal:", refusal.Trust.Score)
	}
}

// An allowlist contains an address and the score per line.
func ExampleOpenAllowlist() {
	folder, err := os.MkdirTemp("", "allowlist")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)
	path := filepath.Join(folder, "counterparties")
	content := "24PNhTaNtomHhoy3fTRaMhAFCRj4uHqhZEEoWrKDbR5p 80  # has paid before\n"
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		log.Fatal(err)
	}
	list, err := identity.OpenAllowlist(path)
	if err != nil {
		log.Fatal(err)
	}
	gate := identity.Gate{Source: list, Threshold: 60}
	known := solana.MustPublicKeyFromBase58("24PNhTaNtomHhoy3fTRaMhAFCRj4uHqhZEEoWrKDbR5p")
	fmt.Println(gate.Check(context.Background(), known))
	fmt.Println(errors.Is(gate.Check(context.Background(), solana.PublicKey{1}), identity.ErrRefused))
	// Output:
	// <nil>
	// true
}

// A seller accepts invitations from agents rated 60 of 100 points by a registry.
func ExampleGate_Admit() {
	var (
		ctx    context.Context
		client *haggle.Client
		seller *wallet.Keypair
		usdc   solana.PublicKey
		decide func(ctx context.Context, turn agent.Turn) (agent.Decision, error)
	)
	registry, err := identity.NewRegistry(identity.RegistryConfig{Endpoint: "https://registry.example"})
	if err != nil {
		log.Fatal(err)
	}
	gate := identity.Gate{Source: registry, Threshold: 60}
	runtime, err := agent.New(client, seller, agent.Config{
		Mints: map[solana.PublicKey]agent.Limits{
			usdc: {Decimals: 6, MinPrice: 3_000_000, SingleSourceUpTo: 4_500_000},
		},
		Services: [][32]byte{protocol.ServiceHash("Summarise a paper")},
		Admit:    gate.Admit(seller.PublicKey()),
		Decide:   decide,
	})
	if err != nil {
		log.Fatal(err)
	}
	if err := runtime.Run(ctx); err != nil {
		log.Fatal(err)
	}
}
