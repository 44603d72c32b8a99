package transaction_test

import (
	"errors"
	"fmt"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// The outcome of an error decides whether an action may be repeated. An error that says nothing about the
// transaction, wrapped or not, means an unknown outcome.
func ExampleOutcomeOf() {
	for _, err := range []error{
		fmt.Errorf("offer: %w", transaction.ErrExpired),
		fmt.Errorf("offer: %w", transaction.ErrMissingSigner),
		fmt.Errorf("offer: %w", transaction.ErrDetailsUnavailable),
		errors.New("connection reset"),
	} {
		fmt.Println(transaction.OutcomeOf(err))
	}
	// Output:
	// expired
	// not sent
	// confirmed
	// unknown
}
