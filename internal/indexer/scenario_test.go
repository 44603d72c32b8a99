package indexer

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
	"github.com/haggle-protocol/haggle/sdk/wallet"
)

const (
	escrow = 5_000_000
	// scenarioLimit is the time limit per scenario.
	scenarioLimit = 5 * time.Minute
)

// scenario plays negotiations on a real local chain.
type scenario struct {
	t   *testing.T
	ctx context.Context
	*localnet.Net
	arbiter *wallet.Keypair
}

func newScenario(t *testing.T) *scenario {
	t.Helper()
	// The scenarios advance the clock.
	t.Setenv(localnet.EnvRPCURL, "")
	ctx, cancel := context.WithTimeout(t.Context(), scenarioLimit)
	t.Cleanup(cancel)
	net, err := localnet.Start(ctx, localnet.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	arbiter, err := wallet.GenerateKeypair()
	require.NoError(t, err)
	require.NoError(t, net.Endow(ctx, arbiter.PublicKey()))
	return &scenario{t, ctx, net, arbiter}
}

func (s *scenario) do(action *haggle.Action, err error) func(*wallet.Keypair) {
	return func(signer *wallet.Keypair) { s.doTogether(action, err)(signer) }
}

// doTogether executes an action that several parties sign.
func (s *scenario) doTogether(action *haggle.Action, err error) func(...haggle.Signer) {
	return func(signers ...haggle.Signer) {
		s.t.Helper()
		require.NoError(s.t, err)
		_, err := action.Do(s.ctx, signers...)
		require.NoError(s.t, err)
	}
}

// keyOf returns the key of a scenario's negotiation.
func keyOf(session uint64) string { return fmt.Sprint("order ", session) }

func (s *scenario) create(session uint64, change func(*haggle.CreateRequest)) solana.PublicKey {
	s.t.Helper()
	request := haggle.CreateRequest{
		Buyer: s.Buyer.PublicKey(), Seller: s.Seller.PublicKey(), Mint: s.Mint, Decimals: localnet.Decimals,
		EscrowAmount: escrow,
		ServiceHash:  [32]byte{byte(session)}, Key: keyOf(session), MaxFeeBps: new(protocol.MaxProtocolFeeBps),
	}
	if change != nil {
		change(&request)
	}
	action, err := s.Client.CreateNegotiation(request).Build(s.ctx)
	require.NoError(s.t, err)
	_, err = action.Do(s.ctx, s.Buyer)
	require.NoError(s.t, err)
	return action.Negotiation
}

func (s *scenario) invited(session uint64, change func(*haggle.CreateRequest)) solana.PublicKey {
	s.t.Helper()
	negotiation := s.create(session, change)
	s.takePart(negotiation, session)
	return negotiation
}

func (s *scenario) takePart(negotiation solana.PublicKey, session uint64) {
	s.t.Helper()
	n, err := s.Client.Negotiation(negotiation).Snapshot(s.ctx)
	require.NoError(s.t, err)
	require.Equal(s.t, [32]byte{byte(session)}, n.ServiceHash)
	s.do(s.Client.At(n).AcceptInvitation(s.Seller.PublicKey(), n.TermsHash(), s.decimalsOf(n.TokenMint),
		haggle.Deposit{}).Build(s.ctx))(s.Seller)
}

// decimalsOf returns a scenario mint's decimals.
func (s *scenario) decimalsOf(mint solana.PublicKey) uint8 {
	if mint == solana.WrappedSol {
		return 9
	}
	return localnet.Decimals
}

func (s *scenario) offer(negotiation solana.PublicKey, by *wallet.Keypair, amount uint64) {
	s.t.Helper()
	s.do(s.Client.Negotiation(negotiation).SubmitOffer(by.PublicKey(), haggle.Offer{Amount: amount}).Build(s.ctx))(by)
}

func (s *scenario) accept(negotiation solana.PublicKey, by *wallet.Keypair, price uint64) {
	s.t.Helper()
	s.do(s.Client.Negotiation(negotiation).AcceptOffer(by.PublicKey(), price).Build(s.ctx))(by)
}

func (s *scenario) reject(negotiation solana.PublicKey, by *wallet.Keypair) {
	s.t.Helper()
	s.do(s.Client.Negotiation(negotiation).Reject(by.PublicKey()).Build(s.ctx))(by)
}

// close closes a negotiation. The program refuses this in the second of the creation.
func (s *scenario) close(negotiation solana.PublicKey) {
	s.t.Helper()
	n, err := s.Client.Negotiation(negotiation).Snapshot(s.ctx)
	require.NoError(s.t, err)
	if now, err := s.Chain.Now(s.ctx); err != nil || now <= n.CreatedAt {
		require.NoError(s.t, err)
		require.NoError(s.t, s.Chain.AdvanceTo(s.ctx, n.CreatedAt+1))
	}
	s.do(s.Client.Negotiation(negotiation).Close(s.Seller.PublicKey()).Build(s.ctx))(s.Seller)
}

// bargain plays a whole negotiation: three offers, the third accepted, and closed.
func (s *scenario) bargain(session uint64) {
	s.t.Helper()
	negotiation := s.invited(session, nil)
	s.offer(negotiation, s.Buyer, 2_000_000)
	s.offer(negotiation, s.Seller, 4_000_000)
	s.offer(negotiation, s.Buyer, 3_000_000)
	s.accept(negotiation, s.Seller, 3_000_000)
	s.close(negotiation)
}

// twoLives plays a negotiation that is rejected and closed, and another with different terms at the same
// address.
func (s *scenario) twoLives(session uint64) solana.PublicKey {
	s.t.Helper()
	first := s.invited(session, nil)
	s.offer(first, s.Buyer, 1_000_000)
	s.reject(first, s.Seller)
	s.close(first)
	s.createAgain(session, func(request *haggle.CreateRequest) { request.EscrowAmount = 2 * escrow })
	s.takePart(first, session)
	s.offer(first, s.Buyer, 6_000_000)
	return first
}

// createAgain creates a negotiation at a closed negotiation's address. The SDK does not do so by itself.
func (s *scenario) createAgain(session uint64, change func(*haggle.CreateRequest)) {
	s.t.Helper()
	request := haggle.CreateRequest{
		Buyer: s.Buyer.PublicKey(), Seller: s.Seller.PublicKey(), Mint: s.Mint, Decimals: localnet.Decimals,
		EscrowAmount: escrow,
		ServiceHash:  [32]byte{byte(session)}, Key: keyOf(session) + " again",
	}
	change(&request)
	action, err := s.Client.CreateNegotiation(request).Build(s.ctx)
	require.NoError(s.t, err)
	last := len(action.Instructions) - 1
	data, err := action.Instructions[last].Data()
	require.NoError(s.t, err)
	decoded, err := protocol.DecodeInstruction(action.Instructions[last].Accounts(), data)
	require.NoError(s.t, err)
	create := decoded.(*protocol.CreateNegotiation)
	create.SessionID = haggle.SessionIDFor(keyOf(session))
	create.Negotiation, create.EscrowVault = solana.PublicKey{}, solana.PublicKey{}
	action.Instructions[last], err = create.Instruction()
	require.NoError(s.t, err)
	_, err = action.Do(s.ctx, s.Buyer)
	require.NoError(s.t, err)
}

// milestones plays a price in three parts: one released, one split by the arbiter, one released.
func (s *scenario) milestones(session uint64) {
	s.t.Helper()
	negotiation := s.invited(session, func(request *haggle.CreateRequest) {
		request.Milestones = &haggle.Milestones{Arbiter: s.arbiter.PublicKey(), Shares: []uint16{3333, 3333, 3334}}
	})
	s.offer(negotiation, s.Buyer, 3_000_001)
	s.accept(negotiation, s.Seller, 3_000_001)
	for index := range uint8(3) {
		s.do(s.Client.Negotiation(negotiation).ClaimMilestone(s.Seller.PublicKey(), index, [32]byte{}).Build(s.ctx))(s.Seller)
		if index == 1 {
			s.do(s.Client.Negotiation(negotiation).DisputeMilestone(s.Buyer.PublicKey(), index, [32]byte{}).Build(s.ctx))(s.Buyer)
			s.do(s.Client.Negotiation(negotiation).ResolveDispute(s.arbiter.PublicKey(), index, 4_321).Build(s.ctx))(s.arbiter)
			continue
		}
		s.do(s.Client.Negotiation(negotiation).ReleaseMilestone(s.Buyer.PublicKey(), index).Build(s.ctx))(s.Buyer)
	}
	s.close(negotiation)
}

// expired plays a negotiation with a bond that expires after its first offer.
func (s *scenario) expired(session uint64) {
	s.t.Helper()
	negotiation := s.invited(session, func(request *haggle.CreateRequest) { request.Bond = 700_000 })
	s.offer(negotiation, s.Buyer, 2_000_000)
	n, err := s.Client.Negotiation(negotiation).Snapshot(s.ctx)
	require.NoError(s.t, err)
	require.NoError(s.t, s.Chain.AdvanceTo(s.ctx, n.TurnDeadline))
	s.do(s.Client.Negotiation(negotiation).Expire(s.Buyer.PublicKey()).Build(s.ctx))(s.Buyer)
}

// endow gives the parties tokens for many negotiations.
func (s *scenario) endow() {
	s.t.Helper()
	require.NoError(s.t, s.Endow(s.ctx, s.Seller.PublicKey()))
}

// all plays all scenarios above.
func (s *scenario) all() {
	s.t.Helper()
	s.endow()
	s.bargain(1)
	s.twoLives(2)
	s.milestones(3)
	s.expired(4)
	s.create(5, nil)
	s.bargain(6)
}

// onChain returns every event on the chain, oldest first, bypassing the indexer.
func (s *scenario) onChain() (events []protocol.Event, signatures []solana.Signature) {
	s.t.Helper()
	listed, err := s.Client.RPC().GetSignaturesForAddressWithOpts(s.ctx, protocol.ProgramID,
		&rpc.GetSignaturesForAddressOpts{Commitment: rpc.CommitmentConfirmed})
	require.NoError(s.t, err)
	for i := len(listed) - 1; i >= 0; i-- {
		if listed[i].Err != nil {
			continue
		}
		found, err := s.Client.RPC().GetTransaction(s.ctx, listed[i].Signature, &rpc.GetTransactionOpts{
			Encoding: solana.EncodingBase64, Commitment: rpc.CommitmentConfirmed,
		})
		require.NoError(s.t, err)
		logged, err := protocol.ParseLogs(found.Meta.LogMessages)
		require.NoError(s.t, err)
		for _, event := range logged {
			events, signatures = append(events, event), append(signatures, listed[i].Signature)
		}
	}
	return events, signatures
}
