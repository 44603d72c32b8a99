package scenarios

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/policy"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// prunedNode returns a client for the chain's node that behaves like a public node: it lacks blocks from
// before the test, and drops every transaction to be forwarded.
func (s *fixture) prunedNode() *haggle.Client {
	s.t.Helper()
	first, err := s.venue.client.RPC().GetSlot(s.ctx, rpc.CommitmentFinalized)
	require.NoError(s.t, err)
	target, err := url.Parse(s.venue.RPCURL())
	require.NoError(s.t, err)
	forward := httputil.NewSingleHostReverseProxy(target)
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var call struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.Unmarshal(body, &call)
		w.Header().Set("Content-Type", "application/json")
		switch call.Method {
		case "getFirstAvailableBlock":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%d}`, call.ID, first)
		case "sendTransaction":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%q}`, call.ID, solana.Signature{1})
		default:
			r.Body = io.NopCloser(bytes.NewReader(body))
			forward.ServeHTTP(w, r)
		}
	}))
	s.t.Cleanup(node.Close)
	client, err := haggle.NewClient(haggle.Config{Endpoint: node.URL})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = client.Close() })
	return client
}

// The policy refunds an expired transaction on a node that keeps few blocks: through the SDK as soon as the
// expiry is known, and for a transaction signed outside the SDK before a limit denies the next transaction.
func TestPolicyRefundsExpiredTransactions(t *testing.T) {
	scenario(t, "policy_refunds_expired_transactions", func(s *fixture) {
		client := s.prunedNode()
		now := time.Now
		store := &policy.MemoryStore{}
		guard := func() *policy.Policy {
			lamports := policy.Limits{PerTransaction: 1e9, PerNegotiation: 1e9, PerDay: 1e9}
			tokens := policy.Limits{PerTransaction: 4e6, PerNegotiation: 4e6, PerCounterparty: 4e6, PerDay: 4e6}
			wallet, err := policy.New(s.ctx, s.buyer, policy.Config{
				Lamports: lamports, Tokens: map[solana.PublicKey]policy.TokenLimits{s.mint: {Limits: tokens, MaxTotal: 4e6}},
				Evidence: policy.EvidenceOf(client), Store: store, Now: func() time.Time { return now() },
			})
			require.NoError(s.t, err)
			return wallet
		}
		wallet := guard()
		created, err := client.CreateNegotiation(s.termsOf(3_000_000)).Build(s.ctx)
		require.NoError(s.t, err)
		_, err = created.Do(s.ctx, wallet)
		require.ErrorIs(s.t, err, transaction.ErrExpired)
		require.Zero(s.t, wallet.Used(s.mint), "the SDK reported it")
		require.Zero(s.t, wallet.Used(solana.PublicKey{}))

		// A first process signs and ends.
		prepared, err := created.Transaction(s.ctx)
		require.NoError(s.t, err)
		require.NoError(s.t, haggle.SignTransaction(s.ctx, prepared, wallet))
		wallet = guard()
		signed := time.Now()
		require.EqualValues(s.t, 3_000_000, wallet.Used(s.mint))
		// No node's word makes a transaction of less than 90 s expire.
		require.Eventually(s.t, func() bool {
			valid, err := client.RPC().IsBlockhashValid(s.ctx, prepared.Message.RecentBlockhash, rpc.CommitmentFinalized)
			return err == nil && !valid.Value && time.Since(signed) > 90*time.Second
		}, scenarioLimit, 200*time.Millisecond, "the blockhash does not expire")
		now = func() time.Time { return time.Now().Add(3 * time.Minute) }
		other, err := s.venue.client.CreateNegotiation(s.termsOf(2_000_000)).Build(s.ctx)
		require.NoError(s.t, err)
		_, err = other.Do(s.ctx, wallet)
		require.NoError(s.t, err)
		require.EqualValues(s.t, 2_000_000, wallet.Used(s.mint))
		s.ended = true
	})
}

// agreeing returns a party's wallet that settles by agreement within limits.
func (s *fixture) agreeing(owner party, limits *policy.AgreementLimits) *policy.Policy {
	s.t.Helper()
	unlimited := policy.Limits{
		PerTransaction: policy.Unlimited, PerNegotiation: policy.Unlimited, PerCounterparty: policy.Unlimited, PerDay: policy.Unlimited,
	}
	wallet, err := policy.New(context.Background(), owner, policy.Config{
		Lamports: unlimited, Tokens: map[solana.PublicKey]policy.TokenLimits{s.mint: {Limits: unlimited}},
		Agreement: limits, Negotiations: policy.Reader(s.venue.client), Store: &policy.MemoryStore{},
	})
	require.NoError(s.t, err)
	return wallet
}

// Two parties settle by a transaction that one party prepares. Each party's policy decodes it and signs only
// within the policy's limits.
func TestTwoPoliciesSignOneAgreement(t *testing.T) {
	scenario(t, "two_policies_sign_one_agreement", func(s *fixture) {
		d := s.agree(inTranches(s.termsWithBond(), s.stranger(), 10_000), 2_000_000)
		buyer := s.agreeing(s.buyer, &policy.AgreementLimits{MaxToSellerBps: 6_000})
		seller := s.agreeing(s.seller, &policy.AgreementLimits{MaxToBuyerBps: 5_000, MaxBondToBuyerBps: 1_000})
		prepare := func(sellerBps, bondToBuyerBps uint16) *solana.Transaction {
			action, err := s.venue.client.Negotiation(d.address).SettleByAgreement(solana.PublicKey{}, haggle.Split{SellerBps: sellerBps, BondToBuyerBps: bondToBuyerBps}).Build(s.ctx)
			require.NoError(s.t, err)
			prepared, err := action.Transaction(s.ctx)
			require.NoError(s.t, err)
			return prepared
		}
		denied := func(prepared *solana.Transaction, by *policy.Policy) {
			s.t.Helper()
			var denial *policy.Denial
			require.ErrorAs(s.t, haggle.SignTransaction(s.ctx, prepared, by), &denial)
			require.Equal(s.t, policy.RuleAgreement, denial.Rule)
		}
		denied(prepare(6_001, 0), buyer)
		denied(prepare(4_999, 0), seller)
		denied(prepare(5_000, 1_001), seller)
		denied(prepare(5_000, 0), s.agreeing(s.buyer, nil))

		prepared := prepare(5_500, 1_000)
		require.NoError(s.t, haggle.SignTransaction(s.ctx, prepared, buyer))
		encoded, err := prepared.ToBase64()
		require.NoError(s.t, err)
		received, err := solana.TransactionFromBase64(encoded)
		require.NoError(s.t, err)
		review, err := s.venue.client.ReviewAgreement(s.ctx, received, s.seller.PublicKey())
		require.NoError(s.t, err)
		require.EqualValues(s.t, 5_500, review.Terms.SellerBps)
		require.NoError(s.t, haggle.SignTransaction(s.ctx, received, seller))
		receipt, err := s.venue.client.Submit(s.ctx, received)
		require.NoError(s.t, err)
		require.NotEmpty(s.t, receipt.Events)
		require.EqualValues(s.t, 1_100_000-5_500+500_000-50_000, s.tokens(s.seller.account)-(sellersPurse-500_000))
		s.ended = true
	})
}

// Two policies let both parties compare sealed prices: each price is checked at the commitment, and the
// reveal is signed although nothing else is allowed then.
func TestPoliciesAndSealedPrices(t *testing.T) {
	scenario(t, "policies_and_sealed_prices", func(s *fixture) {
		c := s.compare(s.termsWithBond(), 2_500_000, 1_500_000)
		unlimited := policy.Limits{
			PerTransaction: policy.Unlimited, PerNegotiation: policy.Unlimited, PerCounterparty: policy.Unlimited, PerDay: policy.Unlimited,
		}
		guard := func(owner party, store policy.Store, limits policy.TokenLimits) *policy.Policy {
			limits.Limits = unlimited
			wallet, err := policy.New(s.ctx, owner, policy.Config{
				Lamports: unlimited, Tokens: map[solana.PublicKey]policy.TokenLimits{s.mint: limits},
				Negotiations: policy.Reader(s.venue.client), Store: store,
			})
			require.NoError(s.t, err)
			return wallet
		}
		does := func(m move, wallet *policy.Policy) error {
			action, err := m.build(s.ctx)
			require.NoError(s.t, err)
			_, err = action.Do(s.ctx, wallet)
			return err
		}
		buyers, sellers := &policy.MemoryStore{}, &policy.MemoryStore{}
		require.ErrorIs(s.t, does(c.step(0), guard(s.buyer, buyers, policy.TokenLimits{MaxTotal: 2_499_999})), policy.ErrDenied)
		require.NoError(s.t, does(c.step(0), guard(s.buyer, buyers, policy.TokenLimits{MaxTotal: 2_500_000})))
		require.ErrorIs(s.t, does(c.step(1), guard(s.seller, sellers, policy.TokenLimits{MinPrice: 1_500_001})), policy.ErrDenied)
		require.NoError(s.t, does(c.step(1), guard(s.seller, sellers, policy.TokenLimits{MinPrice: 1_500_000})))
		require.NoError(s.t, does(c.step(2), guard(s.buyer, buyers, policy.TokenLimits{MaxTotal: 1})))
		require.NoError(s.t, does(c.step(3), guard(s.seller, sellers, policy.TokenLimits{MinPrice: 1e9})))
		s.ended = true
	})
}
