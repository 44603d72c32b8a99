package indexer

import (
	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/admin"
	"github.com/haggle-protocol/haggle/sdk/token"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// unusual plays cases with no scenario of their own: accounts that cannot be paid, forfeited bonds, other
// currencies, and configuration changes.
func (s *scenario) unusual(session uint64) {
	s.t.Helper()
	s.reconfigure()
	s.unpayable(session, s.Seller, func(n solana.PublicKey) { s.accept(n, s.Buyer, 3_000_000) })
	s.unpayable(session+1, s.Buyer, func(n solana.PublicKey) { s.reject(n, s.Buyer) })
	s.forfeited(session+2, 0)
	s.forfeited(session+3, 1)
	s.currencies(session + 4)
}

func (s *scenario) reconfigure() {
	s.t.Helper()
	authority, err := wallet.NewKeypair(s.Chain.UpgradeAuthority)
	require.NoError(s.t, err)
	fee := uint16(123)
	s.do(admin.UpdateConfig(s.ctx, s.Client, admin.UpdateConfigRequest{Authority: authority.PublicKey(), ProtocolFeeBps: &fee}))(authority)
	for _, paused := range []bool{true, false} {
		s.do(admin.SetPaused(s.Client, admin.SetPausedRequest{Authority: authority.PublicKey(), Paused: paused}))(authority)
	}
	s.do(admin.ProposeAuthority(s.Client, admin.ProposeAuthorityRequest{
		Authority: authority.PublicKey(), NewAuthority: s.arbiter.PublicKey(),
	}))(authority)
	s.do(admin.AcceptAuthority(s.Client, admin.AcceptAuthorityRequest{Authority: s.arbiter.PublicKey()}))(s.arbiter)
}

// unpayable ends a negotiation while a party's account is frozen. The seller claims the payout, and closing
// delivers the buyer's.
func (s *scenario) unpayable(session uint64, party *wallet.Keypair, end func(solana.PublicKey)) {
	s.t.Helper()
	n := s.invited(session, func(request *haggle.CreateRequest) { request.Bond = endingsBond })
	s.offer(n, s.Buyer, 2_000_000)
	s.offer(n, s.Seller, 3_000_000)
	account, err := token.AssociatedAddress(party.PublicKey(), s.Mint, solana.TokenProgramID)
	require.NoError(s.t, err)
	require.NoError(s.t, s.Chain.Freeze(s.ctx, s.Mint, account))
	end(n)
	require.NoError(s.t, s.Chain.Thaw(s.ctx, s.Mint, account))
	if party == s.Seller {
		s.do(s.Client.Negotiation(n).ClaimPayout(party.PublicKey(), solana.PublicKey{}).Build(s.ctx))(party)
	}
	s.close(n)
}

// forfeited makes the arbiter forfeit the bond when deciding one of two milestones.
func (s *scenario) forfeited(session uint64, disputed uint8) {
	s.t.Helper()
	n := s.invited(session, func(request *haggle.CreateRequest) {
		request.Milestones = &haggle.Milestones{Arbiter: s.arbiter.PublicKey(), Shares: []uint16{3333, 6667}}
		request.Bond = endingsBond
	})
	s.offer(n, s.Buyer, 3_000_001)
	s.accept(n, s.Seller, 3_000_001)
	for index := range uint8(2) {
		s.do(s.Client.Negotiation(n).ClaimMilestone(s.Seller.PublicKey(), index, [32]byte{}).Build(s.ctx))(s.Seller)
		if index != disputed {
			s.do(s.Client.Negotiation(n).ReleaseMilestone(s.Buyer.PublicKey(), index).Build(s.ctx))(s.Buyer)
			continue
		}
		s.do(s.Client.Negotiation(n).DisputeMilestone(s.Buyer.PublicKey(), index, [32]byte{}).Build(s.ctx))(s.Buyer)
		s.do(s.Client.Negotiation(n).ResolveDispute(s.arbiter.PublicKey(), index, 1_234).Build(s.ctx))(s.arbiter)
	}
	s.close(n)
}

// currencies settles in a mint of Token-2022 and in wrapped SOL.
func (s *scenario) currencies(session uint64) {
	s.t.Helper()
	other, err := s.Chain.CreateToken2022Mint(s.ctx, 6)
	require.NoError(s.t, err)
	require.NoError(s.t, s.Chain.Endow(s.ctx, other,
		localnet.Holding{Owner: s.Buyer.PublicKey(), Tokens: 2 * escrow}, localnet.Holding{Owner: s.Seller.PublicKey(), Tokens: escrow}))
	wrapped, err := s.Chain.NativeMint(s.ctx, solana.TokenProgramID)
	require.NoError(s.t, err)
	for i, mint := range []solana.PublicKey{other, wrapped} {
		n := s.invited(session+uint64(i), func(request *haggle.CreateRequest) {
			request.Mint, request.Deposit.WrapSOL = mint, mint == wrapped
			request.Decimals = s.decimalsOf(mint)
		})
		s.offer(n, s.Buyer, 2_000_000)
		s.accept(n, s.Seller, 2_000_000)
		s.close(n)
	}
}
