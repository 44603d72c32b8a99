package haggle_test

import (
	"context"
	"log"

	"github.com/gagliardetto/solana-go"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// A buyer deposits a quarter SOL held as lamports.
func ExampleCreateRequest_wrapSOL() {
	var (
		ctx    context.Context
		client *haggle.Client
		buyer  *wallet.Keypair
		seller solana.PublicKey
	)
	action, err := client.CreateNegotiation(haggle.CreateRequest{
		Buyer: buyer.PublicKey(), Seller: seller, Mint: solana.WrappedSol, Decimals: 9,
		EscrowAmount: 250_000_000,
		Deposit:      haggle.Deposit{WrapSOL: true},
		ServiceHash:  protocol.ServiceHash("Analyse 10,000 transactions"),
		Key:          "order 1234",
	}).Build(ctx)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := action.Do(ctx, buyer); err != nil {
		log.Fatal(err)
	}
}

// A seller accepts a price and receives it as lamports at once.
func ExampleAction_UnwrapSOL() {
	var (
		ctx         context.Context
		client      *haggle.Client
		seller      *wallet.Keypair
		negotiation *haggle.Snapshot
	)
	accept := client.At(negotiation).AcceptOffer(seller.PublicKey(), negotiation.CurrentOfferAmount)
	if _, err := accept.UnwrapSOL(seller.PublicKey()).Do(ctx, seller); err != nil {
		log.Fatal(err)
	}
}
