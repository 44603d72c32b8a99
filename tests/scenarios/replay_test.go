package scenarios

import (
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// nonceOf creates a nonce account of the party.
func (s *fixture) nonceOf(owner party, seed string) solana.PublicKey {
	s.t.Helper()
	address, err := solana.CreateWithSeed(owner.PublicKey(), seed, solana.SystemProgramID)
	require.NoError(s.t, err)
	const size = 80
	rent, err := s.venue.client.RPC().GetMinimumBalanceForRentExemption(s.ctx, size, rpc.CommitmentConfirmed)
	require.NoError(s.t, err)
	_, err = s.venue.client.NewAction("create_nonce_account", owner.PublicKey(),
		system.NewCreateAccountWithSeedInstruction(owner.PublicKey(), seed, rent, size, solana.SystemProgramID,
			owner.PublicKey(), address, owner.PublicKey()).Build(),
		system.NewInitializeNonceAccountInstruction(owner.PublicKey(), address,
			solana.SysVarRecentBlockHashesPubkey, solana.SysVarRentPubkey).Build()).Do(s.ctx, owner)
	require.NoError(s.t, err)
	return address
}

// nonceValue returns a nonce account's value, and the slot when the account was read.
func (s *fixture) nonceValue(address solana.PublicKey) (solana.Hash, uint64) {
	s.t.Helper()
	account, err := s.venue.client.RPC().GetAccountInfoWithOpts(s.ctx, address,
		&rpc.GetAccountInfoOpts{Commitment: rpc.CommitmentConfirmed, Encoding: solana.EncodingBase64})
	require.NoError(s.t, err)
	const offset = 40
	return solana.Hash(account.Value.Data.GetBinary()[offset : offset+32]), account.Context.Slot
}

// sign returns a move's transaction with a durable nonce, signed and not sent: it can be executed as long as
// the nonce keeps the value.
func (s *fixture) sign(m move, nonce solana.PublicKey) *solana.Transaction {
	s.t.Helper()
	action, err := m.build(s.ctx)
	require.NoError(s.t, err)
	transaction, err := action.With(haggle.WithNonce(nonce)).Transaction(s.ctx)
	require.NoError(s.t, err)
	require.NoError(s.t, haggle.SignTransaction(s.ctx, transaction, m.by))
	return transaction
}

// replaces rejects and closes the deal and creates another deal at the same address, all in a single
// transaction by the buyer.
func (d *deal) replaces(terms protocol.NegotiationParams) *deal {
	d.t.Helper()
	require.NoError(d.t, d.passCreation(d.ctx))
	rejection, err := d.reject(d.buyer).build(d.ctx)
	require.NoError(d.t, err)
	// The closing depends on a state created by the rejection, so it is not built on a snapshot.
	closing, err := (&protocol.CloseNegotiation{
		Closer: d.buyer.PublicKey(), Negotiation: d.address, Buyer: d.buyer.PublicKey(), TreasuryTokenAccount: d.treasuryAccount,
		TokenMint: d.mint, TokenProgram: d.tokenProgram,
	}).Instruction()
	require.NoError(d.t, err)
	creation, err := (&protocol.CreateNegotiation{
		Buyer: d.buyer.PublicKey(), Seller: d.seller.PublicKey(), BuyerTokenAccount: d.buyer.account, TokenMint: d.mint,
		TokenProgram: d.tokenProgram, SessionID: d.session, Params: terms,
	}).Instruction()
	require.NoError(d.t, err)
	_, err = d.force(d.buyer, append(rejection.Instructions, closing, creation)...)
	require.NoError(d.t, err)

	second := *d
	second.created = second.state().CreatedAt
	require.Greater(d.t, second.created, d.created)
	return &second
}

// If an offer was signed for one deal and can still be sent, it does not land on the next deal at that
// address: not even in the same round, with the same turn, and after the seller has accepted the new terms.
func TestOfferOfAnEarlierDeal(t *testing.T) {
	scenario(t, "replay_of_an_offer_through_a_nonce", func(s *fixture) {
		nonce := s.nonceOf(s.seller, "offer")
		first := s.bargain(s.termsOf(2_000_000))
		first.offers(1_000_000)
		counter := s.sign(first.offer(s.seller, 1_500_000), nonce)

		now, err := s.venue.client.Now(s.ctx)
		require.NoError(s.t, err)
		second := first.replaces(paramsOf(2_000_000, now))
		s.do(second.takePart(s.seller))
		second.offers(1_000_000)
		before := second.state()
		require.EqualValues(s.t, 1, before.CurrentRound, "it is the seller's turn in the same round again")

		_, err = s.venue.client.Submit(s.ctx, counter)
		require.ErrorIs(s.t, err, protocol.ErrStaleState)
		after := second.state()
		require.Equal(s.t, before.Negotiation, after.Negotiation)

		// The same offer, signed for this deal, is accepted.
		s.do(second.offer(s.seller, 1_500_000))
		s.do(second.accept(s.buyer))
		second.closes(s.stranger())
		s.ends(holdings{
			buyer: 1_000_000 + 1_960_000 + 420_800, seller: 1_492_500, treasury: 40_000 + 79_200 + 7_500,
		})
	})
}

// If a commitment was signed for one deal, it does not land on the next deal. There it could not be revealed,
// and the seller would lose the bond.
func TestCommitmentOfAnEarlierDeal(t *testing.T) {
	scenario(t, "replay_of_a_commitment_through_a_nonce", func(s *fixture) {
		nonce := s.nonceOf(s.seller, "commitment")
		terms := s.termsWithBond()
		terms.EscrowAmount, terms.ResponseWindow = 2_000_000, 300*time.Second
		c := s.compare(terms, 1_500_000, 1_000_000)
		s.do(c.step(0))
		commitment := s.sign(c.step(1), nonce)

		now, err := s.venue.client.Now(s.ctx)
		require.NoError(s.t, err)
		params := paramsOf(2_000_000, now)
		params.ZopaEnabled, params.BondRequired = true, bond
		second := c.replaces(params)
		s.do(second.takePart(s.seller))
		// The sealed prices belong to the first deal: the client refuses them, and the program rejects a
		// commitment sent around the client.
		_, err = second.commit(s.buyer, c.buyers).build(s.ctx)
		require.ErrorIs(s.t, err, protocol.ErrStaleState)
		again := comparison{second, second.seal(s.buyer, 1_500_000), second.seal(s.seller, 1_000_000)}
		s.do(again.step(0))

		_, err = s.venue.client.Submit(s.ctx, commitment)
		require.ErrorIs(s.t, err, protocol.ErrStaleState)
		require.Zero(s.t, second.state().SellerCommitment)
		again.do(again.step(1))
		again.do(again.step(2))
		again.do(again.step(3))
		s.do(again.accept(s.seller))
		again.closes(s.buyer)
		s.ends(holdings{buyer: 400_000 + 2_000_000 + 2_000_000 - 1_250_000, seller: 100_000 + bond + 1_243_750, treasury: 6_250})
	})
}
