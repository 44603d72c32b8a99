// Create-and-settle bargains once from the first deposit to the last lamport of rent, both sides in one program:
//
//	go run ./examples/create-and-settle
//
// It starts a local chain. With HAGGLE_RPC_URL it uses the one that runs there.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

const service = "Find whale patterns in 10,000 Solana transactions"

func main() {
	log.SetFlags(0)
	progress := func(line string) { fmt.Fprintln(os.Stderr, line) }
	net, err := localnet.Start(context.Background(), localnet.Options{Progress: progress})
	if err != nil {
		log.Fatal(err)
	}
	err = settle(context.Background(), net)
	if closeErr := net.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		log.Fatal(err)
	}
}

func settle(ctx context.Context, net *localnet.Net) error {
	client, buyer, seller := net.Client, net.Buyer, net.Seller

	// The buyer deposits the most that it could pay, 5 tokens, and invites the seller.
	invitation, err := client.CreateNegotiation(ctx, haggle.CreateRequest{
		Buyer:        buyer.PublicKey(),
		Seller:       seller.PublicKey(),
		Mint:         net.Mint,
		EscrowAmount: 5_000_000,
		ServiceHash:  protocol.ServiceHash(service),
		MaxRounds:    8,
		DecayRateBps: new(uint16(150)),
		Deadline:     30 * time.Minute,
	})
	if err != nil {
		return err
	}
	if err := do(ctx, invitation.Action, nil, buyer); err != nil {
		return err
	}
	address := invitation.Negotiation

	// The seller takes part on the terms it reads there, and only if they are about the service it knows.
	seen, err := client.Negotiation(address).Snapshot(ctx)
	if err != nil {
		return err
	}
	if seen.ServiceHash != protocol.ServiceHash(service) {
		return fmt.Errorf("negotiation %s is about another service", address)
	}
	acceptance, err := client.At(seen).AcceptInvitation(seller.PublicKey(), seen.TermsHash(), haggle.Deposit{}).Build(ctx)
	if err := do(ctx, acceptance, err, seller); err != nil {
		return err
	}

	// The buyer opens at 2, the seller asks for 4, the buyer offers 3, and the seller takes it.
	for _, offer := range []struct {
		by     *wallet.Keypair
		amount uint64
	}{{buyer, 2_000_000}, {seller, 4_000_000}, {buyer, 3_000_000}} {
		action, err := client.Negotiation(address).SubmitOffer(offer.by.PublicKey(), haggle.Offer{Amount: offer.amount}).Build(ctx)
		if err := do(ctx, action, err, offer.by); err != nil {
			return err
		}
	}
	agreement, err := client.Negotiation(address).AcceptOffer(seller.PublicKey(), 3_000_000).Build(ctx)
	if err := do(ctx, agreement, err, seller); err != nil {
		return err
	}

	// Fee and decay go to the treasury, the rent goes back to the buyer.
	closing, err := client.Negotiation(address).Close(buyer.PublicKey()).Build(ctx)
	if err := do(ctx, closing, err, buyer); err != nil {
		return err
	}
	return report(ctx, net)
}

// do carries an action out and prints what has come of it. It takes the error of the call that has made the action, too.
func do(ctx context.Context, action *haggle.Action, err error, signers ...haggle.Signer) error {
	if err != nil {
		return err
	}
	receipt, err := action.Do(ctx, signers...)
	if err != nil {
		return fmt.Errorf("%s: %w", action.Name, err)
	}
	fmt.Printf("%-18s %6d compute units, %d lamports, confirmed after %s\n",
		action.Name, receipt.ComputeUnits, receipt.Fee, receipt.Elapsed.Round(time.Millisecond))
	for _, event := range receipt.Events {
		switch event := event.(type) {
		case *protocol.OfferSubmitted:
			fmt.Printf("  round %d: %d of %d base units\n", event.Round, event.Amount, event.EffectiveEscrow)
		case *protocol.NegotiationSettled:
			fmt.Printf("  settled at %d: fee %d, decay %d\n", event.SettledAmount, event.ProtocolFee, event.EscrowDecayTotal)
		}
	}
	return nil
}

func report(ctx context.Context, net *localnet.Net) error {
	mint, err := net.Client.GetMint(ctx, net.Mint)
	if err != nil {
		return err
	}
	for _, party := range []struct {
		name   string
		wallet solana.PublicKey
	}{{"buyer", net.Buyer.PublicKey()}, {"seller", net.Seller.PublicKey()}, {"treasury", net.Treasury}} {
		address, err := mint.AssociatedAddress(party.wallet)
		if err != nil {
			return err
		}
		account, err := net.Client.GetTokenAccount(ctx, address)
		if err != nil {
			return err
		}
		fmt.Printf("%-8s has %9d base units\n", party.name, account.Amount)
	}
	return nil
}
