// Watch prints the events of an agent's negotiations, past events included:
//
//	go run ./examples/watch --rpc https://api.devnet.solana.com AGENT
//
// If no address is given, it starts a local chain, where two agents bargain, and watches the seller.
package main

import (
	"context"
	"errors"
	"flag"
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
	rpc := flag.String("rpc", os.Getenv(localnet.EnvRPCURL), "JSON-RPC `URL` of the agent's chain")
	ws := flag.String("ws", os.Getenv(localnet.EnvWSURL),
		"WebSocket `URL` of that chain, if not derived from --rpc")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var err error
	if flag.NArg() > 0 {
		err = watchAgent(ctx, haggle.Config{Endpoint: *rpc, WSEndpoint: *ws}, flag.Arg(0))
	} else {
		err = watchBargaining(ctx)
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

func watchAgent(ctx context.Context, config haggle.Config, address string) error {
	agent, err := solana.PublicKeyFromBase58(address)
	if err != nil {
		return fmt.Errorf("%s: %w", address, err)
	}
	client, err := haggle.NewClient(config)
	if err != nil {
		return err
	}
	defer client.Close()
	subscription, err := client.WatchAgent(ctx, agent, haggle.FromBeginning())
	if err != nil {
		return err
	}
	defer subscription.Close()
	for envelope := range subscription.Events() {
		show(envelope)
	}
	return subscription.Err()
}

// watchBargaining watches a seller until the only negotiation is rejected.
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
	for envelope := range subscription.Events() {
		show(envelope)
		if _, over := envelope.Event.(*protocol.NegotiationRejected); over {
			return nil
		}
	}
	return subscription.Err()
}

// show prints an event. Agents react to events with such a type switch.
func show(envelope haggle.EventEnvelope) {
	if envelope.Truncated {
		fmt.Printf("slot %d: logs truncated, see transaction %s\n", envelope.Slot, envelope.Signature)
		return
	}
	fmt.Printf("slot %d: %s %s", envelope.Slot, envelope.Event.EventName(), envelope.Negotiation)
	switch event := envelope.Event.(type) {
	case *protocol.NegotiationCreated:
		fmt.Printf(": %s invites %s, escrow %d", event.Buyer, event.Seller, event.EscrowAmount)
	case *protocol.OfferSubmitted:
		fmt.Printf(": round %d, %s offers %d of %d",
			event.Round, event.Offerer, event.Amount, event.EffectiveEscrow)
	case *protocol.NegotiationSettled:
		fmt.Printf(": paid %d, fee %d", event.SettledAmount, event.ProtocolFee)
	case *protocol.NegotiationRejected:
		fmt.Printf(": %s rejects, refund %d", event.RejectedBy, event.RefundAmount)
	}
	fmt.Println()
}

// bargain submits an offer from each agent; then the buyer rejects.
func bargain(ctx context.Context, net *localnet.Net) error {
	client, buyer, seller := net.Client, net.Buyer, net.Seller
	invitation, err := client.CreateNegotiation(haggle.CreateRequest{
		Buyer:        buyer.PublicKey(),
		Seller:       seller.PublicKey(),
		Mint:         net.Mint,
		Decimals:     localnet.Decimals,
		EscrowAmount: 5_000_000,
		Key:          "order 1",
	}).Build(ctx)
	if err != nil {
		return err
	}
	address := invitation.Negotiation
	for _, step := range []struct {
		signer *wallet.Keypair
		action func() (*haggle.Action, error)
	}{
		{buyer, func() (*haggle.Action, error) { return invitation, nil }},
		{seller, func() (*haggle.Action, error) {
			snapshot, err := client.Negotiation(address).Snapshot(ctx)
			if err != nil {
				return nil, err
			}
			return client.At(snapshot).
				AcceptInvitation(seller.PublicKey(), snapshot.TermsHash(), localnet.Decimals,
					haggle.Deposit{}).Build(ctx)
		}},
		{buyer, func() (*haggle.Action, error) {
			return client.Negotiation(address).
				SubmitOffer(buyer.PublicKey(), haggle.Offer{Amount: 2_000_000}).Build(ctx)
		}},
		{seller, func() (*haggle.Action, error) {
			return client.Negotiation(address).
				SubmitOffer(seller.PublicKey(), haggle.Offer{Amount: 4_500_000}).Build(ctx)
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
