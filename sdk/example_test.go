package haggle_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// A buyer invites a seller to sell a service for at most five tokens. The mint uses six decimals.
func ExampleClient_CreateNegotiation() {
	var (
		ctx          context.Context
		client       *haggle.Client
		buyer        *wallet.Keypair
		seller, mint solana.PublicKey
	)
	action, err := client.CreateNegotiation(haggle.CreateRequest{
		Buyer:        buyer.PublicKey(),
		Seller:       seller,
		Mint:         mint,
		Decimals:     6,
		EscrowAmount: 5_000_000,
		ServiceHash:  protocol.ServiceHash("Analyse 10,000 transactions"),
		Key:          "order 1234",
		MaxRounds:    8,
		DecayRateBps: new(uint16(150)),
		Deadline:     30 * time.Minute,
	}).Build(ctx)
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := action.Do(ctx, buyer)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(action.Negotiation, action.Creation.SessionID, receipt.Signature)
}

// A seller answers each of the buyer's offers, until one is good enough.
func ExampleClient_Watch() {
	var (
		ctx     context.Context
		client  *haggle.Client
		seller  *wallet.Keypair
		address solana.PublicKey
	)
	subscription, err := client.Watch(ctx, address)
	if err != nil {
		log.Fatal(err)
	}
	defer subscription.Close()
	for envelope := range subscription.Events() {
		offer, ok := envelope.Event.(*protocol.OfferSubmitted)
		if !ok || offer.Offerer == seller.PublicKey() {
			continue
		}
		negotiation, err := client.Negotiation(address).Snapshot(ctx)
		if err != nil {
			log.Fatal(err)
		}
		var action *haggle.Action
		if negotiation.CurrentOfferAmount >= 3_000_000 {
			action, err = client.At(negotiation).AcceptOffer(seller.PublicKey(), 0).Build(ctx)
		} else {
			action, err = client.At(negotiation).SubmitOffer(seller.PublicKey(),
				haggle.Offer{Amount: 3_500_000}).Build(ctx)
		}
		if err != nil {
			log.Fatal(err)
		}
		if _, err := action.Do(ctx, seller); err != nil && !errors.Is(err, protocol.ErrStaleState) {
			log.Fatal(err)
		}
	}
}

// An agent lists the unanswered invitations.
func ExampleClient_FindNegotiations() {
	var (
		ctx    context.Context
		client *haggle.Client
		agent  solana.PublicKey
	)
	filter := haggle.Filter{Seller: agent,
		Status: []protocol.NegotiationStatus{protocol.NegotiationStatusCreated}}
	for negotiation, err := range client.FindNegotiations(ctx, filter) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(negotiation.Address, negotiation.Buyer, negotiation.EscrowAmount)
	}
}

// A wallet elsewhere signs the transaction.
func ExampleAction_Transaction() {
	var (
		ctx    context.Context
		client *haggle.Client
		action *haggle.Action
		wallet func(*solana.Transaction) error
	)
	tx, err := action.Transaction(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if err := wallet(tx); err != nil {
		log.Fatal(err)
	}
	receipt, err := client.Submit(ctx, tx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(receipt.Slot)
}

// An agent that compares reservation prices under seal stores the price's secret before committing to it.
func ExampleNegotiation_CommitZopa() {
	var (
		ctx         context.Context
		client      *haggle.Client
		negotiation *haggle.Snapshot
		me          *wallet.Keypair
	)
	sealed, err := protocol.SealPrice(negotiation.Address, &negotiation.Negotiation, me.PublicKey(),
		3_000_000)
	if err != nil {
		log.Fatal(err)
	}
	secret, err := sealed.Secret()
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("price.json", secret, 0o600); err != nil {
		log.Fatal(err)
	}
	action, err := client.At(negotiation).CommitZopa(sealed).Build(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := action.Do(ctx, me); err != nil {
		log.Fatal(err)
	}
	// Later, perhaps in a new process, once both sides have committed:
	if secret, err = os.ReadFile("price.json"); err != nil {
		log.Fatal(err)
	}
	if sealed, err = protocol.ParseSealedPrice(secret); err != nil {
		log.Fatal(err)
	}
	if action, err = client.Negotiation(sealed.Negotiation()).RevealZopa(sealed).Build(ctx); err != nil {
		log.Fatal(err)
	}
	if _, err := action.Do(ctx, me); err != nil {
		log.Fatal(err)
	}
}

// A buyer pays half of the price for a draft and half for the rest, with an arbiter for disputes and a bond
// of the seller's.
func ExampleMilestones() {
	var (
		ctx                   context.Context
		client                *haggle.Client
		buyer                 *wallet.Keypair
		seller, arbiter, mint solana.PublicKey
	)
	action, err := client.CreateNegotiation(haggle.CreateRequest{
		Buyer:        buyer.PublicKey(),
		Seller:       seller,
		Mint:         mint,
		Decimals:     6,
		EscrowAmount: 5_000_000,
		ServiceHash:  protocol.ServiceHash("Analyse 10,000 transactions"),
		Key:          "order 1235",
		Bond:         250_000,
		Milestones: &haggle.Milestones{Arbiter: arbiter, Shares: []uint16{5_000, 5_000},
			Delivery: 14 * 24 * time.Hour},
	}).Build(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := action.Do(ctx, buyer); err != nil {
		log.Fatal(err)
	}
}

// The benchmark of a simulation where both reservation prices are known travels with an offer.
func ExampleNashBenchmark() {
	if price, ok := protocol.NashBenchmark(4_000_000, 2_500_001); ok {
		terms := protocol.Terms{Quantity: 1, BenchmarkPrice: price}
		fmt.Println(terms.BenchmarkPrice)
	}
	// Output: 3250000
}

// Offers can carry other terms besides the price.
func ExampleTerms() {
	terms := protocol.Terms{QualityTier: 2, SLAMillis: 1_500, Quantity: 10_000}
	metadata := terms.Metadata()
	decoded, err := protocol.DecodeMetadata(metadata)
	if err != nil {
		log.Fatal(err)
	}
	read := decoded.Terms
	fmt.Println(read.QualityTier, read.SLA(), read.Quantity)
	// Output: 2 1.5s 10000
}
