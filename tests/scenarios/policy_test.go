package scenarios

import (
	"context"
	"errors"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/programs/system"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/policy"
)

// Two agents with lamports alone, each with a policy around its key, bargain in SOL: they wrap what they deposit and unwrap what they
// are paid in the same transactions. The policies let all of it through, have counted to the lamport what has left the wallets, and
// sign nothing else.
func TestPoliciesAndWrappedSOL(t *testing.T) {
	scenario(t, "policies_and_wrapped_sol", func(s *stage) {
		s.bargainInWrappedSOL()
		const escrow, bond, price = 50_000_000, 2_000_000, 30_000_000
		buyer, seller := s.guard(s.buyer), s.guard(s.seller)

		terms := s.termsOf(escrow)
		terms.Bond, terms.Deposit.WrapSOL, terms.DecayRateBps = bond, true, new(uint16(0))
		created, err := s.venue.client.CreateNegotiation(s.ctx, terms)
		require.NoError(s.t, err)
		buyer.does(created.Action, nil)
		invitation, err := s.venue.client.Negotiation(created.Negotiation).Snapshot(s.ctx)
		require.NoError(s.t, err)
		joining, err := s.venue.client.At(invitation).AcceptInvitation(s.seller.PublicKey(), invitation.TermsHash(), haggle.Deposit{WrapSOL: true}).Build(s.ctx)
		seller.does(joining, err)
		offering, err := s.venue.client.Negotiation(created.Negotiation).SubmitOffer(s.buyer.PublicKey(), haggle.Offer{Amount: price}).Build(s.ctx)
		buyer.does(offering, err)
		var margin uint64
		if s.tokenProgram == solana.Token2022ProgramID {
			margin = rentMargin
		}
		require.Equal(s.t, buyer.counted(), buyer.spent()+margin, "escrow, rent and fees have left the buyer")
		require.Equal(s.t, seller.counted(), seller.spent()+margin, "bond, rent and fees have left the seller")

		cheap, err := s.venue.client.Negotiation(created.Negotiation).SubmitOffer(s.seller.PublicKey(), haggle.Offer{Amount: price / 2}).Build(s.ctx)
		require.NoError(s.t, err)
		seller.refuses(cheap, policy.RuleMinPrice)

		accepting, err := s.venue.client.Negotiation(created.Negotiation).AcceptOffer(s.seller.PublicKey(), price).UnwrapSOL(s.seller.PublicKey()).Build(s.ctx)
		seller.does(accepting, err)
		const fee = price / 10_000 * protocolFeeBps
		require.EqualValues(s.t, guardedFunds+price-fee-2*signatureFee, s.lamports(s.seller.PublicKey()), "all of it are lamports again, less two fees")

		stealing, err := solana.NewTransaction([]solana.Instruction{
			system.NewTransferInstruction(1, s.buyer.PublicKey(), s.seller.PublicKey()).Build(),
		}, solana.Hash{}, solana.TransactionPayer(s.buyer.PublicKey()))
		require.NoError(s.t, err)
		message, err := stealing.Message.MarshalBinary()
		require.NoError(s.t, err)
		_, err = buyer.SignMessage(s.ctx, message)
		require.ErrorIs(s.t, err, policy.ErrDenied)

		// The mint is everybody's, and the seller's account is gone.
		require.EqualValues(s.t, escrow-price, s.tokens(s.buyer.account), "the refund")
		s.ended = true
	})
}

const (
	// guardedFunds is what an agent with a policy has, in lamports.
	guardedFunds = 200_000_000
	signatureFee = 5_000
	// rentMargin is how much more a policy counts for a token account of Token-2022 than one takes whose mint asks for no extensions.
	rentMargin = 2_248_080 - 2_074_080
)

// guarded is a party's wallet with a policy around it.
type guarded struct {
	*policy.Policy
	stage *stage
	owner party
}

func (s *stage) guard(owner party) *guarded {
	s.t.Helper()
	require.NoError(s.t, s.venue.Fund(s.ctx, owner.PublicKey(), guardedFunds))
	limits := policy.Limits{
		PerTransaction: guardedFunds, PerNegotiation: guardedFunds, PerCounterparty: guardedFunds, PerDay: guardedFunds,
	}
	wallet, err := policy.New(context.Background(), owner, policy.Config{
		Lamports:       limits,
		Tokens:         map[solana.PublicKey]policy.TokenLimits{s.mint: {Limits: limits, MaxPrice: 40_000_000, MinPrice: 25_000_000}},
		Counterparties: []solana.PublicKey{s.buyer.PublicKey(), s.seller.PublicKey()},
		Negotiations:   policy.Reader(s.venue.client),
		Evidence:       policy.EvidenceOf(s.venue.client),
		Store:          &policy.MemoryStore{},
	})
	require.NoError(s.t, err)
	return &guarded{Policy: wallet, stage: s, owner: owner}
}

func (g *guarded) does(action *haggle.Action, err error) {
	g.stage.t.Helper()
	require.NoError(g.stage.t, err)
	_, err = action.Do(g.stage.ctx, g)
	require.NoError(g.stage.t, err)
}

func (g *guarded) refuses(action *haggle.Action, rule policy.Rule) {
	g.stage.t.Helper()
	_, err := action.Do(g.stage.ctx, g)
	var denial *policy.Denial
	require.True(g.stage.t, errors.As(err, &denial), "%v", err)
	require.Equal(g.stage.t, rule, denial.Rule)
}

// counted is what the policy says has left the wallet, wrapped or not, in lamports.
func (g *guarded) counted() uint64 { return g.Used(solana.PublicKey{}) + g.Used(g.stage.mint) }

// spent is what has left it.
func (g *guarded) spent() uint64 { return guardedFunds - g.stage.lamports(g.owner.PublicKey()) }
