package escrow_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log"
	"time"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/escrow"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// A seeker deposits the agreed price.
func Example() {
	var (
		ctx       context.Context
		client    *haggle.Client
		seeker    *wallet.Keypair
		workerKey ed25519.PublicKey
		state     hire.State // of the conversation, after both accept messages
	)
	terms, err := escrow.Of(state, ed25519.PublicKey(seeker.PublicKey().Bytes()), workerKey,
		escrow.Assets("mainnet-beta"))
	if err != nil {
		log.Fatal(err)
	}
	now, err := client.Now(ctx)
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := client.CreateNegotiation(terms.Request(time.Unix(now, 0))).Do(ctx, seeker)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(receipt.Signature)
}

// A worker compares escrow and agreement before accepting the invitation.
func ExampleTerms_Check() {
	var (
		ctx    context.Context
		client *haggle.Client
		worker *wallet.Keypair
		terms  escrow.Terms
	)
	address, err := terms.Address()
	if err != nil {
		log.Fatal(err)
	}
	negotiation, err := client.Negotiation(address).Snapshot(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := terms.Check(negotiation); err != nil {
		log.Fatal(err)
	}
	invitation := client.At(negotiation).AcceptInvitation(worker.PublicKey(), [32]byte{}, terms.Decimals, haggle.Deposit{})
	if _, err := invitation.Do(ctx, worker); err != nil {
		log.Fatal(err)
	}
}

// A home or an auditor computes where a contract must be settled.
func ExampleSession() {
	session, err := escrow.Session(
		"0101010101010101010101010101010101010101010101010101010101010101",
		"0202020202020202020202020202020202020202020202020202020202020202")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(session)
	// Output: 4248140667046874907
}
