package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/store"
)

// negotiation returns a buyer's negotiation.
func negotiation(t *testing.T, createdAt int64) *haggle.Snapshot {
	t.Helper()
	n := &haggle.Snapshot{Address: newKeypair(t).PublicKey()}
	n.Buyer, n.Seller, n.CreatedAt = newKeypair(t).PublicKey(), newKeypair(t).PublicKey(), createdAt
	n.EscrowAmount, n.ZopaEnabled = 5_000_000, true
	return n
}

func TestSealedPriceSurvivesUntilItsReveal(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		n := negotiation(t, 1_800_000_000)
		first, err := open().SealPrice(t.Context(), n, n.Buyer, 3_000_000)
		require.NoError(t, err)
		again, err := open().SealPrice(t.Context(), n, n.Buyer, 3_000_000)
		require.NoError(t, err)
		require.Equal(t, first.Commitment(), again.Commitment(), "a repeated command sends the same commitment")
		other, err := open().SealPrice(t.Context(), n, n.Buyer, 2_000_000)
		require.NoError(t, err)
		none, err := open().CommittedPrice(t.Context(), n, n.Buyer)
		require.NoError(t, err)
		require.Nil(t, none)

		// The first price is committed. Another configured price changes nothing from now on.
		n.BuyerCommitment = first.Commitment()
		committed, err := open().SealPrice(t.Context(), n, n.Buyer, 2_000_000)
		require.NoError(t, err)
		require.Equal(t, first.Nonce(), committed.Nonce())
		require.EqualValues(t, 3_000_000, committed.Price())

		// A later deal at the same address keeps a separate price.
		later := *n
		later.CreatedAt, later.BuyerCommitment = n.CreatedAt+1, [32]byte{}
		next, err := open().SealPrice(t.Context(), &later, n.Buyer, 3_000_000)
		require.NoError(t, err)
		require.NotEqual(t, first.Nonce(), next.Nonce())
		require.NoError(t, open().ForgetPrice(t.Context(), committed))
		_, err = open().CommittedPrice(t.Context(), n, n.Buyer)
		require.ErrorIs(t, err, store.ErrNoSealedPrice)
		n.BuyerCommitment = other.Commitment()
		_, err = open().CommittedPrice(t.Context(), n, n.Buyer)
		require.ErrorIs(t, err, store.ErrNoSealedPrice)
		later.BuyerCommitment = next.Commitment()
		left, err := open().CommittedPrice(t.Context(), &later, n.Buyer)
		require.NoError(t, err)
		require.Equal(t, next.Nonce(), left.Nonce())
	})
}

func TestSealedPricesOfOthersAreNotReturned(t *testing.T) {
	onBoth(t, func(t *testing.T, open func() *store.Store) {
		state, n := open(), negotiation(t, 1_800_000_000)
		buyers, err := state.SealPrice(t.Context(), n, n.Buyer, 3_000_000)
		require.NoError(t, err)
		n.SellerCommitment = buyers.Commitment()
		_, err = state.CommittedPrice(t.Context(), n, n.Seller)
		require.ErrorIs(t, err, store.ErrNoSealedPrice)
		_, err = state.SealPrice(t.Context(), n, newKeypair(t).PublicKey(), 3_000_000)
		require.ErrorIs(t, err, protocol.ErrUnauthorized)
		_, err = state.SealPrice(t.Context(), n, n.Buyer, n.EscrowAmount+1)
		require.ErrorIs(t, err, protocol.ErrInvalidParams)
	})
}
