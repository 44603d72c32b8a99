package haggle_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// After any error, an agent knows whether it may repeat the action.
func ExampleOutcomeOf() {
	var (
		ctx    context.Context
		action *haggle.Action
		me     *wallet.Keypair
	)
	receipt, err := action.Do(ctx, me)
	switch transaction.OutcomeOf(err) {
	case transaction.Confirmed:
		fmt.Println("done", receipt)
	case transaction.Failed:
		fmt.Println("executed, and refused:", err)
	case transaction.Expired, transaction.NotSent:
		fmt.Println("nothing has happened, it can be repeated:", err)
	case transaction.Unknown:
		fmt.Println("outcome unknown; with a journal the next action resolves it first:", err)
	}
}

// An action built on an old snapshot is not sent, and a completed action is not repeated.
func ExampleStateChangedError() {
	var (
		ctx    context.Context
		action *haggle.Action
		me     *wallet.Keypair
	)
	_, err := action.Do(ctx, me)
	var (
		moved *haggle.StateChangedError
		done  *haggle.AlreadyDone
	)
	switch {
	case errors.As(err, &done):
		fmt.Println("this was done before, on", done.Negotiation)
	case errors.As(err, &moved) && moved.Now == nil:
		fmt.Println("the negotiation has been closed")
	case errors.As(err, &moved):
		fmt.Println("look again and decide anew:", moved.Now.Describe())
	}
}

// A killed agent resolves unfinished actions before starting new actions.
func ExampleClient_Recover() {
	var (
		ctx    context.Context
		client *haggle.Client
		me     *wallet.Keypair
	)
	recovered, err := client.Recover(ctx, me.PublicKey())
	if err != nil {
		log.Fatal(err)
	}
	for _, one := range recovered {
		if one.Entry.Action == "create_negotiation" && one.Outcome == transaction.Confirmed {
			fmt.Println("go on with", one.Entry.Negotiation)
		}
	}
}

// A simulation returns an action's cost and the changes of all balances.
func ExampleAction_Simulate() {
	var (
		ctx    context.Context
		action *haggle.Action
	)
	run, err := action.Simulate(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("a fee of", run.Fee, "lamports")
	for _, change := range run.Changes {
		if change.Tokens != nil {
			fmt.Println(change.Tokens.Owner, "would have", change.Tokens.After, "instead of",
				change.Tokens.Before)
		}
	}
}

// A settlement that must be final before the agent continues, and whose signing may take long: it uses a
// durable nonce, which does not expire within a minute.
func ExampleAction_With() {
	var (
		ctx    context.Context
		me     *wallet.Keypair
		accept *haggle.Action
		nonce  solana.PublicKey // solana create-nonce-account makes one
	)
	receipt, err := accept.With(haggle.WithNonce(nonce),
		haggle.WithCommitment(rpc.CommitmentFinalized)).Do(ctx, me)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(receipt.Slot)
}

// A purchase with a key is not made twice: with a journal the second creation returns the receipt of the
// first.
func ExampleCreateRequest_key() {
	var (
		ctx          context.Context
		client       *haggle.Client
		buyer        *wallet.Keypair
		seller, mint solana.PublicKey
	)
	action, err := client.CreateNegotiation(haggle.CreateRequest{
		Buyer: buyer.PublicKey(), Seller: seller, Mint: mint, Decimals: 6,
		EscrowAmount: 5_000_000, Key: "order 1234",
	}).Build(ctx)
	if err == nil {
		_, err = action.Do(ctx, buyer)
	}
	var done *haggle.AlreadyDone
	if errors.As(err, &done) {
		fmt.Println("the purchase was made:", done.Negotiation, done.Receipt.Signature)
	}
}
