package token

import (
	"fmt"

	"github.com/gagliardetto/solana-go"
)

// DecimalsError reports sources that disagree about a mint's decimals. Since one must be wrong, nothing is
// signed.
type DecimalsError struct {
	// Mint is the mint's address.
	Mint solana.PublicKey
	// Source states Decimals: a node, or the caller.
	Source   string
	Decimals uint8
	// Reference states Expected: the table of well-known mints, another node, or a stored record from earlier
	// use.
	Reference string
	Expected  uint8
}

func (e *DecimalsError) Error() string {
	return fmt.Sprintf("haggle: decimals of mint %s: %s states %d, %s states %d", e.Mint, e.Source, e.Decimals,
		e.Reference, e.Expected)
}

// CheckDecimals returns a [*DecimalsError] if a source's decimals differ from the well-known mint's: see
// [WellKnownDecimals].
func CheckDecimals(mint solana.PublicKey, source string, decimals uint8) error {
	known, is := WellKnownDecimals(mint)
	if !is || known == decimals {
		return nil
	}
	return &DecimalsError{Mint: mint, Source: source, Decimals: decimals,
		Reference: "the table of well-known mints (" + WellKnownSymbol(mint) + ")", Expected: known}
}
