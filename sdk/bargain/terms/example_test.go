package terms_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/terms"
)

// One side offers a price with a delivery time, and the opponent checks the received document against the
// hash and price of the offer on chain.
func Example() {
	domain, err := bargain.NewDomain(bargain.Price("price", 1_000, 2_000, 10), bargain.Integer("days", 1, 9))
	if err != nil {
		log.Fatal(err)
	}
	document, hash, err := terms.Write(domain, domain.Outcome(100, 6))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(document))

	_, err = terms.Check(domain, document, hash, 2_000)
	fmt.Println(err)
	_, err = terms.Check(domain, document, hash, 1_990)
	fmt.Println(errors.Is(err, terms.ErrPrice))
	// Output:
	// {"issues":{"days":"7","price":"2000"},"version":"haggle-terms-v1"}
	// <nil>
	// true
}
