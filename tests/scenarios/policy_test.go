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

// Two agents with lamports alone, each key guarded by a policy, bargain in SOL: they wrap their deposits and
// unwrap their payments in the same transactions. The policies allow this, count exactly the lamports that
// left the wallets, and sign nothing else.
func TestPoliciesAndWrappedSOL(t *testing.T) {
	scenario(t, "policies_and_wrapped_sol", func(s *fixture) {
		s.bargainInWrappedSOL()
		const escrow, bond, price = 50_000_000, 2_000_000, 30_000_000
		buyer, seller := s.guard(s.buyer), s.guard(s.seller)

		terms := s.termsOf(escrow)
		terms.Bond, terms.Deposit.WrapSOL, terms.DecayRateBps = bond, true, new(uint16(0))
		created, err := s.venue.client.CreateNegotiation(terms).Build(s.ctx)
		require.NoError(s.t, err)
		buyer.does(created, nil)
		invitation, err := s.venue.client.Negotiation(created.Negotiation).Snapshot(s.ctx)
		require.NoError(s.t, err)
		joining, err := s.venue.client.At(invitation).AcceptInvitation(s.seller.PublicKey(), invitation.TermsHash(), 9, haggle.Deposit{WrapSOL: true}).Build(s.ctx)
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

		// The mint is shared, and the seller's account is closed.
		require.EqualValues(s.t, escrow-price, s.tokens(s.buyer.account), "the refund")
		s.ended = true
	})
}

const (
	// guardedFunds is the balance of agents with a policy, in lamports.
	guardedFunds = 200_000_000
	signatureFee = 5_000
	// rentMargin is how much a policy overestimates the rent for Token-2022 accounts whose mint requires no
	// extensions.
	rentMargin = 2_248_080 - 2_074_080
)

// guarded is a party's wallet with a policy around it.
type guarded struct {
	*policy.Policy
	fixture *fixture
	owner   party
}

func (s *fixture) guard(owner party) *guarded {
	s.t.Helper()
	require.NoError(s.t, s.venue.Fund(s.ctx, owner.PublicKey(), guardedFunds))
	limits := policy.Limits{
		PerTransaction: guardedFunds, PerNegotiation: guardedFunds, PerCounterparty: guardedFunds, PerDay: guardedFunds,
	}
	wallet, err := policy.New(context.Background(), owner, policy.Config{
		Lamports:       limits,
		Tokens:         map[solana.PublicKey]policy.TokenLimits{s.mint: {Limits: limits, MaxTotal: 40_000_000, MinPrice: 25_000_000}},
		Counterparties: []solana.PublicKey{s.buyer.PublicKey(), s.seller.PublicKey()},
		Negotiations:   policy.Reader(s.venue.client),
		Evidence:       policy.EvidenceOf(s.venue.client),
		Store:          &policy.MemoryStore{},
	})
	require.NoError(s.t, err)
	return &guarded{Policy: wallet, fixture: s, owner: owner}
}

func (g *guarded) does(action *haggle.Action, err error) {
	g.fixture.t.Helper()
	require.NoError(g.fixture.t, err)
	_, err = action.Do(g.fixture.ctx, g)
	require.NoError(g.fixture.t, err)
}

func (g *guarded) refuses(action *haggle.Action, rule policy.Rule) {
	g.fixture.t.Helper()
	_, err := action.Do(g.fixture.ctx, g)
	var denial *policy.Denial
	require.True(g.fixture.t, errors.As(err, &denial), "%v", err)
	require.Equal(g.fixture.t, rule, denial.Rule)
}

// counted returns the amount that, according to the policy, has left the wallet, wrapped or not, in lamports.
func (g *guarded) counted() uint64 { return g.Used(solana.PublicKey{}) + g.Used(g.fixture.mint) }

// spent returns the amount that left the wallet.
func (g *guarded) spent() uint64 { return guardedFunds - g.fixture.lamports(g.owner.PublicKey()) }
