package haggle_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/token"
	"github.com/haggle-protocol/haggle/sdk/transaction"
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

// rotation is a chain with a rejected negotiation, whose close pays an offer's decay to the treasury.
type rotation struct {
	*localnet.Net
	t           *testing.T
	ctx         context.Context
	negotiation solana.PublicKey
	closer      *wallet.Keypair
}

func newRotation(t *testing.T) *rotation {
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	net, err := localnet.Start(ctx, localnet.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	r := &rotation{Net: net, t: t, ctx: ctx}
	r.closer, err = wallet.GenerateKeypair()
	require.NoError(t, err)
	require.NoError(t, net.Chain.Fund(ctx, r.closer.PublicKey(), solana.LAMPORTS_PER_SOL))
	create := net.Client.CreateNegotiation(haggle.CreateRequest{
		Buyer: net.Buyer.PublicKey(), Seller: net.Seller.PublicKey(), Mint: net.Mint, Decimals: localnet.Decimals,
		Key: "order 1", EscrowAmount: 5_000_000, MaxRounds: 8, Deadline: 10 * time.Minute,
	})
	r.do(net.Buyer, create)
	r.negotiation = create.Negotiation
	deal := net.Client.Negotiation(r.negotiation)
	invitation, err := deal.Snapshot(ctx)
	require.NoError(t, err)
	r.do(net.Seller, deal.AcceptInvitation(net.Seller.PublicKey(), invitation.TermsHash(), localnet.Decimals,
		haggle.Deposit{}))
	r.do(net.Buyer, deal.SubmitOffer(net.Buyer.PublicKey(), haggle.Offer{Amount: 3_000_000}))
	r.do(net.Seller, deal.SubmitOffer(net.Seller.PublicKey(), haggle.Offer{Amount: 4_000_000}))
	r.do(net.Buyer, deal.Reject(net.Buyer.PublicKey()))
	now, err := net.Chain.Now(ctx)
	require.NoError(t, err)
	require.NoError(t, net.Chain.AdvanceTo(ctx, now+1)) // no close in the second of creation
	return r
}

// TestFinalizedSnapshotsAreOlder compares the snapshots of a just changed negotiation.
func TestFinalizedSnapshotsAreOlder(t *testing.T) {
	r := newRotation(t)
	now, err := r.Client.Snapshots(r.ctx, "", r.negotiation)
	require.NoError(t, err)
	require.Equal(t, protocol.NegotiationStatusRejected, now[0].Status)
	finalized, err := r.Client.Snapshots(r.ctx, rpc.CommitmentFinalized, r.negotiation)
	require.NoError(t, err)
	require.True(t, finalized[0] == nil || finalized[0].Slot < now[0].Slot)
	for finalized[0] == nil || finalized[0].Status != protocol.NegotiationStatusRejected {
		time.Sleep(20 * time.Millisecond)
		finalized, err = r.Client.Snapshots(r.ctx, rpc.CommitmentFinalized, r.negotiation)
		require.NoError(t, err)
	}
	require.Equal(t, now[0].Data, finalized[0].Data)
}

func (r *rotation) do(as haggle.Signer, action *haggle.Action) {
	r.t.Helper()
	_, err := action.Do(r.ctx, as)
	require.NoError(r.t, err)
}

// rotate replaces the treasury by a new wallet, with or without a token account, and returns that wallet.
func (r *rotation) rotate(hasAccount bool) solana.PublicKey {
	r.t.Helper()
	treasury, err := wallet.GenerateKeypair()
	require.NoError(r.t, err)
	if hasAccount {
		require.NoError(r.t, r.Chain.Endow(r.ctx, r.Mint, localnet.Holding{Owner: treasury.PublicKey()}))
	}
	require.NoError(r.t, r.ReplaceTreasury(r.ctx, treasury.PublicKey()))
	return treasury.PublicKey()
}

// close returns a built close.
func (r *rotation) close() *haggle.Action {
	r.t.Helper()
	action, err := r.Client.Negotiation(r.negotiation).Close(r.closer.PublicKey()).Build(r.ctx)
	require.NoError(r.t, err)
	return action
}

// tokensOf returns the tokens in a wallet's associated account; zero if it is missing.
func (r *rotation) tokensOf(owner solana.PublicKey) uint64 {
	r.t.Helper()
	address, err := token.AssociatedAddress(owner, r.Mint, solana.TokenProgramID)
	require.NoError(r.t, err)
	account, err := r.Client.GetTokenAccount(r.ctx, address)
	if err != nil {
		require.ErrorIs(r.t, err, protocol.ErrAccountNotFound)
		return 0
	}
	return account.Amount
}

func (r *rotation) lamports() uint64 {
	r.t.Helper()
	balance, err := r.Client.RPC().GetBalance(r.ctx, r.closer.PublicKey(), rpc.CommitmentConfirmed)
	require.NoError(r.t, err)
	return balance.Value
}

// requireOpen checks that neither the negotiation nor the vault changed when the close was refused.
func (r *rotation) requireOpen(before *haggle.Snapshot, vault uint64) {
	r.t.Helper()
	now, err := r.Client.Negotiation(r.negotiation).Snapshot(r.ctx)
	require.NoError(r.t, err)
	require.Equal(r.t, before.Data, now.Data)
	require.Equal(r.t, vault, r.vault())
}

func (r *rotation) vault() uint64 {
	r.t.Helper()
	address, _, err := protocol.FindVaultAddress(r.negotiation)
	require.NoError(r.t, err)
	account, err := r.Client.GetTokenAccount(r.ctx, address)
	require.NoError(r.t, err)
	return account.Amount
}

// rotatingSigner replaces the treasury while it signs for the first time: after the simulation.
type rotatingSigner struct {
	*wallet.Keypair
	rotate func()
	signed int
}

func (s *rotatingSigner) SignMessage(ctx context.Context, message []byte) (solana.Signature, error) {
	if s.signed++; s.signed == 1 {
		s.rotate()
	}
	return s.Keypair.SignMessage(ctx, message)
}

func TestCloseIsRebuiltForANewTreasury(t *testing.T) {
	r := newRotation(t)
	closing, swept := r.close(), r.vault()
	require.Zero(t, closing.Rent)
	require.Empty(t, closing.Warnings)
	former, before := r.Treasury, r.lamports()
	treasury := r.rotate(true)
	r.do(r.closer, closing)
	require.Equal(t, swept, r.tokensOf(treasury))
	require.Zero(t, r.tokensOf(former))
	require.EqualValues(t, 5_000, before-r.lamports())
}

// The transaction is executed with the old treasury and fails.
func TestFailedCloseIsSentAgainForANewTreasury(t *testing.T) {
	r := newRotation(t)
	before, vault, lamports := r.snapshot(), r.vault(), r.lamports()
	signer := &rotatingSigner{Keypair: r.closer, rotate: func() { r.rotate(true) }}
	_, err := r.close().With(haggle.WithMaxPriorityFee(0)).Do(r.ctx, signer)
	require.ErrorIs(t, err, protocol.ErrConstraintRaw)
	require.Equal(t, transaction.Failed, transaction.OutcomeOf(err))
	require.Equal(t, 1, signer.signed)
	r.requireOpen(before, vault)
	require.EqualValues(t, 5_000, lamports-r.lamports())

	var treasury solana.PublicKey
	signer = &rotatingSigner{Keypair: r.closer, rotate: func() { treasury = r.rotate(true) }}
	receipt, err := r.close().Do(r.ctx, signer)
	require.NoError(t, err)
	require.Equal(t, 2, signer.signed)
	require.Len(t, receipt.Events, 1)
	require.Equal(t, vault, r.tokensOf(treasury))
}

func (r *rotation) snapshot() *haggle.Snapshot {
	r.t.Helper()
	n, err := r.Client.Negotiation(r.negotiation).Snapshot(r.ctx)
	require.NoError(r.t, err)
	return n
}

func TestCloserSeesTheRentOfANewTreasurysAccount(t *testing.T) {
	r := newRotation(t)
	closing, before, vault, lamports := r.close(), r.snapshot(), r.vault(), r.lamports()
	former := r.Treasury
	treasury := r.rotate(false)
	_, err := closing.Do(r.ctx, r.closer)
	require.ErrorIs(t, err, haggle.ErrTreasuryChanged)
	require.ErrorIs(t, err, protocol.ErrConstraintRaw)
	require.Equal(t, transaction.NotSent, transaction.OutcomeOf(err))
	require.ErrorContains(t, err, fmt.Sprintf("the treasury is now %s instead of %s;"+
		" closing costs 0.00203928 SOL of rent for new token accounts", treasury, former))
	r.requireOpen(before, vault)
	require.Equal(t, lamports, r.lamports())

	// A simulation closes with the new treasury.
	run, err := closing.Simulate(r.ctx)
	require.NoError(t, err)
	require.EqualValues(t, token.AccountRent, run.Rent)
	require.Equal(t, run.Rent, closing.Rent)
	account, err := token.AssociatedAddress(treasury, r.Mint, solana.TokenProgramID)
	require.NoError(t, err)
	require.Len(t, closing.Warnings, 1)
	require.ErrorContains(t, closing.Warnings[0],
		fmt.Sprintf("creates token account %s of %s: the closer pays 0.00203928 SOL of rent", account, treasury))
	r.do(r.closer, closing)
	require.Equal(t, vault, r.tokensOf(treasury))
	require.Equal(t, run.Fee+run.Rent, lamports-r.lamports())
}

func TestNamedAccountOfAFormerTreasuryIsAnError(t *testing.T) {
	r := newRotation(t)
	account, err := token.AssociatedAddress(r.Treasury, r.Mint, solana.TokenProgramID)
	require.NoError(t, err)
	closing, err := r.Client.Negotiation(r.negotiation).Close(r.closer.PublicKey()).
		PayTo(haggle.TokenAccounts{Treasury: account}).Build(r.ctx)
	require.NoError(t, err)
	r.rotate(true)
	_, err = closing.Do(r.ctx, r.closer)
	require.ErrorIs(t, err, haggle.ErrTreasuryChanged)
}
