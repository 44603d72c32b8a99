package localnet_test

import (
	"context"
	"fmt"
	"log"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
)

func ExampleStart() {
	ctx := context.Background()
	net, err := localnet.Start(ctx, localnet.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer net.Close()

	created, err := net.Client.CreateNegotiation(haggle.CreateRequest{
		Buyer:        net.Buyer.PublicKey(),
		Seller:       net.Seller.PublicKey(),
		Mint:         net.Mint,
		Decimals:     localnet.Decimals,
		EscrowAmount: 5_000_000,
		Key:          "order 1",
	}).Build(ctx)
	if err != nil {
		log.Fatal(err)
	}
	receipt, err := created.Do(ctx, net.Buyer)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(created.Negotiation, "created in slot", receipt.Slot)
}
