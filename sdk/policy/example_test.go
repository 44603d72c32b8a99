package policy_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/identity"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// An agent may spend 20 tokens a day and at most 5 per negotiation, needs the owner's approval above 2, and
// deals only with known counterparties. An existing stop file stops the agent.
func ExampleNew() {
	var (
		ctx    context.Context
		client *haggle.Client
		key    *wallet.Keypair
		usdc   solana.PublicKey
		owner  func(ctx context.Context, request *policy.Request) error
	)
	state, err := sqlite.Open(ctx, "/var/lib/agent/state.db")
	if err != nil {
		log.Fatal(err)
	}
	defer state.Close()
	known, err := identity.OpenAllowlist("/etc/agent/counterparties")
	if err != nil {
		log.Fatal(err)
	}
	gate := identity.Gate{Source: known}
	wallet, err := policy.New(ctx, key, policy.Config{
		Lamports: policy.Limits{
			PerTransaction: 10_000_000, PerNegotiation: 8_000_000, PerDay: 100_000_000, ApproveAbove: policy.Unlimited,
		},
		Tokens: map[solana.PublicKey]policy.TokenLimits{usdc: {
			Limits: policy.Limits{
				PerTransaction: 5_000_000, PerNegotiation: 5_000_000, PerCounterparty: 10_000_000, PerDay: 20_000_000,
				ApproveAbove: 2_000_000,
			},
			MaxTotal: 4_000_000,
		}},
		Screen:          gate.Check,
		Negotiations:    policy.Reader(client),
		Evidence:        policy.EvidenceOf(client),
		Approve:         owner,
		ApprovalTimeout: 30 * time.Second,
		StopFile:        "/etc/agent/stop",
		Store:           state,
	})
	if err != nil {
		log.Fatal(err)
	}
	var action *haggle.Action
	_, err = action.Do(ctx, wallet)
	var denial *policy.Denial
	if errors.As(err, &denial) {
		fmt.Println("not signed:", denial.Rule, denial.Requested, "of", denial.Limit)
	}
}

// A KillSwitch stops every policy that shares it.
func ExampleKillSwitch() {
	var kill policy.KillSwitch
	kill.Stop("the key has leaked")
	reason, stopped := kill.Stopped()
	fmt.Println(stopped, reason)
	// Output: true the key has leaked
}
