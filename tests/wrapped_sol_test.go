package tests

import (
	"testing"

	"github.com/gagliardetto/solana-go"
	associatedtokenaccount "github.com/gagliardetto/solana-go/programs/associated-token-account"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/programs/token"
	"github.com/stretchr/testify/require"
)

// An escrow of wrapped SOL settles like any other. Lamports that somebody sends to its vault, whether they have been made
// tokens of or not, go to the buyer with the rent.
func TestWrappedSOL(t *testing.T) {
	scenario(t, "wrapped_sol", func(s *stage) {
		s.use(solana.WrappedSol)
		s.openWrapped(s.buyer, fiveTokens)
		s.openWrapped(s.seller, 0)
		treasury := s.tokens(s.treasuryAccount)

		d := s.bargain(s.terms())
		d.offers(2_000_000, 3_000_000)
		require.NoError(t, s.venue.Fund(s.ctx, d.vault, 1_000_000))
		_, err := s.venue.Send(s.ctx, nil, token.NewSyncNativeInstruction(d.vault).Build())
		require.NoError(t, err)
		require.EqualValues(t, fiveTokens+1_000_000, s.tokens(d.vault))
		require.NoError(t, s.venue.Fund(s.ctx, d.vault, 500_000))
		s.do(d.accept(s.buyer))
		d.closes(s.stranger())
		s.endsAmong(holdings{buyer: 1_802_000, seller: 2_985_000, treasury: treasury + 15_000 + 198_000})
		require.EqualValues(t, pocketMoney+1_500_000-3*5_000, s.lamports(s.buyer.PublicKey()), "less three fees: create, offer, accept")
	})
}

// openWrapped gives a party pocket money and an account with wrapped lamports.
func (s *stage) openWrapped(owner party, lamports uint64) {
	require.NoError(s.t, s.venue.Fund(s.ctx, owner.PublicKey(), pocketMoney+lamports+accountRent))
	_, err := s.venue.Send(s.ctx, []solana.PrivateKey{owner.private},
		associatedtokenaccount.NewCreateIdempotentInstruction(owner.PublicKey(), owner.PublicKey(), s.mint).Build(),
		system.NewTransferInstruction(lamports, owner.PublicKey(), owner.account).Build(),
		token.NewSyncNativeInstruction(owner.account).Build())
	require.NoError(s.t, err)
}

// accountRent is what a token account keeps, in lamports.
const accountRent = 2_039_280
