package onchain

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEvenNumbersOfOffersAreWarnedOf(t *testing.T) {
	require.NoError(t, LastOfferWarning(9, "--rounds"))
	require.NoError(t, LastOfferWarning(1, "--rounds"))
	require.ErrorContains(t, LastOfferWarning(10, "--rounds"), "with 10 offers the seller makes the last one")
	require.ErrorContains(t, LastOfferWarning(10, "--rounds"), "use --rounds 9,")
	require.ErrorContains(t, LastOfferWarning(2, "rounds"), "use rounds 1,")
}
