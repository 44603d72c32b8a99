package proof_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/haggle-protocol/haggle/sdk/bargain/proof"
)

// A buyer commits to a strategy before making any offer. The proof shows that the offers follow the strategy;
// after changing an offer, the proof fails.
func Example() {
	terms := proof.Terms{
		Negotiation: proof.Address{1}, CreatedAt: 1_800_000_000, Buyer: proof.Address{2}, Seller: proof.Address{3},
		Escrow: 5_000_000, MaxRounds: 10, DecayRateBps: 200, MinOfferBps: 1_000, FeeBps: 50,
	}
	reveal := proof.Reveal{
		Strategy: &proof.Strategy{Name: "linear", Opening: 2_000_000, Reservation: 3_500_000},
		Nonce:    proof.Hash{9}, // random in practice
	}
	commitment, err := proof.Commit(terms, proof.Buyer, reveal)
	if err != nil {
		log.Fatal(err)
	}
	finished := proof.Proof{
		Version: proof.Version, Terms: terms, Side: proof.Buyer,
		Offers: []proof.Offer{{Amount: 2_000_000, Metadata: commitment.Metadata()}},
		Last:   &proof.Last{By: proof.Seller, Move: "accept"}, Commitment: commitment, Reveal: reveal,
	}
	result, err := finished.Verify()
	fmt.Println(result.Replayed, result.Offers, err)

	finished.Offers[0].Amount = 1_900_000
	_, err = finished.Verify()
	fmt.Println(errors.Is(err, proof.ErrReplay))
	// Output:
	// true 1 <nil>
	// true
}
