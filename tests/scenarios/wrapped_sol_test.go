package scenarios

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/localnet"
)

// An escrow in wrapped SOL settles like any other. Each token program defines a wrapped SOL mint. Lamports
// sent to the vault, synced to tokens or not, go to the buyer with the rent.
func TestWrappedSOL(t *testing.T) {
	scenario(t, "wrapped_sol", func(s *fixture) {
		s.bargainInWrappedSOL()
		s.openWrapped(s.buyer, fiveTokens)
		s.openWrapped(s.seller, 0)
		treasury := s.tokens(s.treasuryAccount)

		d := s.bargain(s.terms())
		d.offers(2_000_000, 3_000_000)
		require.NoError(s.t, s.venue.Fund(s.ctx, d.vault, 1_000_000))
		require.NoError(s.t, s.venue.syncNative(s.ctx, d.vault))
		require.EqualValues(s.t, fiveTokens+1_000_000, s.tokens(d.vault))
		require.NoError(s.t, s.venue.Fund(s.ctx, d.vault, 500_000))
		s.do(d.accept(s.buyer))
		d.closes(s.stranger())
		s.endsAmong(holdings{buyer: 1_802_000, seller: 2_985_000, treasury: treasury + 15_000 + 198_000})
		require.EqualValues(s.t, startLamports+1_500_000-3*5_000, s.lamports(s.buyer.PublicKey()), "less three fees: create, offer, accept")
	})
}

// bargainInWrappedSOL makes the token program's wrapped SOL mint the scenario's mint.
func (s *fixture) bargainInWrappedSOL() {
	s.t.Helper()
	mint, err := s.venue.NativeMint(s.ctx, s.tokenProgram)
	require.NoError(s.t, err)
	s.wrapped = true
	s.use(mint)
}

// openWrapped gives a party the starting lamports and an account with wrapped lamports.
func (s *fixture) openWrapped(owner party, lamports uint64) {
	s.t.Helper()
	require.NoError(s.t, s.venue.Endow(s.ctx, s.mint, localnet.Holding{Owner: owner.PublicKey(), Lamports: startLamports}))
	require.NoError(s.t, s.venue.Fund(s.ctx, owner.account, lamports))
	require.NoError(s.t, s.venue.syncNative(s.ctx, owner.account))
}
