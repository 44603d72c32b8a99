package protocol_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// A negotiation's address and vault follow from the parties and the session id.
func ExampleFindNegotiationAddress() {
	buyer, seller := solana.PublicKey{1}, solana.PublicKey{2}
	negotiation, _, err := protocol.FindNegotiationAddress(buyer, seller, 7)
	if err != nil {
		log.Fatal(err)
	}
	vault, _, err := protocol.FindVaultAddress(negotiation)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(negotiation)
	fmt.Println(vault)
	// Output:
	// 76yZwvzM2BWWeT6jbgTTrfB15XeGeh5JotD5WxECA3A4
	// GAWJ2neetiBmzwALuscyr5KdmmJcwMkmYCiubNtgX6Mf
}

// Each offer first takes the decay from the escrow, and then must fit the rest.
func ExampleNegotiation_OfferRange() {
	n := protocol.Negotiation{
		EscrowAmount: 5_000_000, EffectiveEscrow: 5_000_000, DecayRateBps: 200, MinOfferBps: 1_000,
		ProtocolFeeBps: 50,
	}
	for round := 1; round <= 3; round++ {
		least, most := n.OfferRange()
		fmt.Printf("round %d: from %d to %d\n", round, least, most)
		n.EffectiveEscrow = n.EscrowAfterRound()
	}
	fmt.Println("decay", n.Decay(), "fee", n.FeeOn(3_000_000))
	// Output:
	// round 1: from 490000 to 4900000
	// round 2: from 480200 to 4802000
	// round 3: from 470596 to 4705960
	// decay 294040 fee 15000
}

// Each party seals the reservation price before committing to it. Printing it does not reveal the price.
func ExampleSealPrice() {
	address, buyer := solana.PublicKey{3}, solana.PublicKey{1}
	n := &protocol.Negotiation{
		Buyer: buyer, EscrowAmount: 5_000_000, MinOfferBps: 1_000, CreatedAt: 1_790_000_000,
	}
	sealed, err := protocol.SealPrice(address, n, buyer, 3_500_000)
	if err != nil {
		log.Fatal(err)
	}
	secret, err := sealed.Secret() // store it before the commitment is sent
	if err != nil {
		log.Fatal(err)
	}
	restored, err := protocol.ParseSealedPrice(secret)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(restored.Matches(sealed.Commitment()), restored.Price())

	_, err = protocol.SealPrice(address, n, buyer, 1)
	fmt.Println(errors.Is(err, protocol.ErrInvalidParams))
	// Output:
	// true 3500000
	// true
}

// An agent reads events from transaction logs.
func ExampleParseLogs() {
	var logs []string // of getTransaction
	events, err := protocol.ParseLogs(logs)
	if errors.Is(err, protocol.ErrLogsTruncated) {
		log.Println("the node has cut the logs: read the account")
	}
	for _, event := range events {
		if offer, made := event.(*protocol.OfferSubmitted); made {
			fmt.Println("round", offer.Round, "price", offer.Amount)
		}
	}
}
