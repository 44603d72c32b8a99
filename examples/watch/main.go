// Watch prints everything that happens to an agent's negotiations, those of the past included:
//
//	HAGGLE_RPC_URL=https://api.devnet.solana.com go run ./examples/watch AGENT
//
// Without an address it starts a local chain with two agents who bargain, and watches the seller.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

func main() {
	log.SetFlags(0)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if len(os.Args) > 1 {
		err = watchAgent(ctx, os.Getenv(localnet.EnvRPCURL), os.Args[1])
	} else {
		err = watchBargaining(ctx)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

func watchAgent(ctx context.Context, endpoint, address string) error {
	agent, err := solana.PublicKeyFromBase58(address)
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint, WSEndpoint: os.Getenv(localnet.EnvWSURL)})
	if err != nil {
		return err
	}
	defer client.Close()
	subscription, err := client.WatchAgent(ctx, agent, haggle.FromBeginning())
	if err != nil {
		return err
	}
	defer subscription.Close()
	for seen := range subscription.Events() {
		show(seen)
	}
	return subscription.Err()
}

// watchBargaining watches a seller until its only negotiation has been rejected.
func watchBargaining(ctx context.Context) error {
	progress := func(line string) { fmt.Fprintln(os.Stderr, line) }
	net, err := localnet.Start(ctx, localnet.Options{Progress: progress})
	if err != nil {
		return err
	}
	defer net.Close()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	subscription, err := net.Client.WatchAgent(ctx, net.Seller.PublicKey())
	if err != nil {
		return err
	}
	defer subscription.Close()
	go func() {
		if err := bargain(ctx, net); err != nil {
			fail(err)
		}
	}()
	for seen := range subscription.Events() {
		show(seen)
		if _, over := seen.Event.(*protocol.NegotiationRejected); over {
			return nil
		}
	}
	return subscription.Err()
}

// show prints an event. Type switches like this one are how agents react.
func show(seen haggle.EventEnvelope) {
	if seen.Truncated {
		fmt.Printf("slot %d: something that the logs do not tell, %s\n", seen.Slot, seen.Signature)
		return
	}
	fmt.Printf("slot %d: %s %s", seen.Slot, seen.Event.EventName(), seen.Negotiation)
	switch event := seen.Event.(type) {
	case *protocol.NegotiationCreated:
		fmt.Printf(": %s invites %s, escrow %d", event.Buyer, event.Seller, event.EscrowAmount)
	case *protocol.OfferSubmitted:
		fmt.Printf(": round %d, %s offers %d of %d", event.Round, event.Offerer, event.Amount, event.EffectiveEscrow)
	case *protocol.NegotiationSettled:
		fmt.Printf(": paid %d, fee %d", event.SettledAmount, event.ProtocolFee)
	case *protocol.NegotiationRejected:
		fmt.Printf(": %s walks away, %d go back", event.RejectedBy, event.RefundAmount)
	}
	fmt.Println()
}

// bargain has two agents make an offer each; then the buyer walks away.
func bargain(ctx context.Context, net *localnet.Net) error {
	client, buyer, seller := net.Client, net.Buyer, net.Seller
	invitation, err := client.CreateNegotiation(ctx, haggle.CreateRequest{
		Buyer: buyer.PublicKey(), Seller: seller.PublicKey(), Mint: net.Mint, EscrowAmount: 5_000_000,
	})
	if err != nil {
		return err
	}
	address := invitation.Negotiation
	for _, step := range []struct {
		signer *wallet.Keypair
		action func() (*haggle.Action, error)
	}{
		{buyer, func() (*haggle.Action, error) { return invitation.Action, nil }},
		{seller, func() (*haggle.Action, error) {
			seen, err := client.Negotiation(address).Snapshot(ctx)
			if err != nil {
				return nil, err
			}
			return client.At(seen).AcceptInvitation(seller.PublicKey(), [32]byte{}, haggle.Deposit{}).Build(ctx)
		}},
		{buyer, func() (*haggle.Action, error) {
			return client.Negotiation(address).SubmitOffer(buyer.PublicKey(), haggle.Offer{Amount: 2_000_000}).Build(ctx)
		}},
		{seller, func() (*haggle.Action, error) {
			return client.Negotiation(address).SubmitOffer(seller.PublicKey(), haggle.Offer{Amount: 4_500_000}).Build(ctx)
		}},
		{buyer, func() (*haggle.Action, error) {
			return client.Negotiation(address).Reject(buyer.PublicKey()).Build(ctx)
		}},
	} {
		action, err := step.action()
		if err != nil {
			return err
		}
		if _, err := action.Do(ctx, step.signer); err != nil {
			return fmt.Errorf("%s: %w", action.Name, err)
		}
	}
	return nil
}
