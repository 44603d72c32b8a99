package agent_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

var encodedData = regexp.MustCompile(`"([A-Za-z0-9+/=]{400,})"`)

// lyingNode returns the URL of a node that forwards requests to the chain. It changes a number of times a
// negotiation waiting for an offer or an answer.
func (f *fixture) lyingNode(lies int64, lie func(*protocol.Negotiation)) string {
	return f.lyingNodeAbout(protocol.NegotiationStatusProposed, lies, lie)
}

// lyingNodeAbout returns the URL of a lying node that changes negotiations with the given status.
func (f *fixture) lyingNodeAbout(
	status protocol.NegotiationStatus, lies int64, lie func(*protocol.Negotiation),
) string {
	var left atomic.Int64
	left.Store(lies)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := http.NewRequestWithContext(r.Context(), r.Method, f.Chain.RPCURL(), r.Body)
		if err != nil {
			return
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return
		}
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		if err != nil {
			return
		}
		body = encodedData.ReplaceAllFunc(body, func(quoted []byte) []byte {
			n := decoded(quoted)
			if n == nil || n.Status != status || left.Add(-1) < 0 {
				return quoted
			}
			lie(n)
			return []byte(`"` + base64.StdEncoding.EncodeToString(n.Encode()) + `"`)
		})
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	f.t.Cleanup(proxy.Close)
	return proxy.URL
}

// decoded decodes the JSON string of a negotiation's account. It returns nil for other strings.
func decoded(quoted []byte) *protocol.Negotiation {
	data, err := base64.StdEncoding.DecodeString(string(bytes.Trim(quoted, `"`)))
	if err != nil {
		return nil
	}
	n := new(protocol.Negotiation)
	if err := n.Decode(data); err != nil {
		return nil
	}
	return n
}

const falsePrice = 4_900_000

func settled(n *protocol.Negotiation) {
	n.Status, n.SettledAmount, n.PaidGross = protocol.NegotiationStatusSettled, falsePrice, falsePrice
}

func agreed(n *protocol.Negotiation) {
	n.Status, n.SettledAmount = protocol.NegotiationStatusAccepted, falsePrice
}

// sellerAt returns a seller's runtime that uses the given nodes.
func (f *fixture) sellerAt(config agent.Config, nodes ...string) *agent.Runtime {
	f.t.Helper()
	client, err := haggle.NewClient(haggle.Config{
		Endpoint: nodes[0], Fallbacks: nodes[1:], WSEndpoint: f.Chain.WSURL(),
	})
	require.NoError(f.t, err)
	f.t.Cleanup(func() { require.NoError(f.t, client.Close()) })
	runtime, err := agent.New(client, f.Seller, config)
	require.NoError(f.t, err)
	return runtime
}

// requireRefutedLies checks that only verifications of the false price failed. Timing decides whether a
// verification fails, or is canceled before by the agent's next turn.
func requireRefutedLies(t *testing.T, failed []error) {
	t.Helper()
	for _, err := range failed {
		var refuted *agent.UnverifiedError
		require.ErrorAs(t, err, &refuted)
		require.EqualValues(t, falsePrice, refuted.Result.Price)
	}
}

func TestLieAboutSettlementIsNoSale(t *testing.T) {
	f := newFixture(t)
	var failed []error
	var ended []agent.Result
	negotiation := f.invite()
	f.run(f.Buyer, agent.Config{Decide: concede(3_000_000, 500_000, true)})
	runtime := f.sellerAt(agent.Config{
		Decide: concede(4_500_000, 500_000, false), Services: [][32]byte{service},
		Mints:  f.limits(func(l *agent.Limits) { l.SingleSourceUpTo = 0 }),
		Failed: func(_ solana.PublicKey, err error) { failed = append(failed, err) },
		Ended:  func(result agent.Result) { ended = append(ended, result) },
	}, f.lyingNode(2, settled), f.lyingNode(0, settled))
	sold, err := runtime.RunOne(f.ctx, negotiation)
	require.NoError(t, err)
	require.Equal(t, protocol.NegotiationStatusSettled, sold.Status)
	require.NotEqual(t, uint64(falsePrice), sold.Price)
	require.Equal(t, []agent.Result{*sold}, ended, "one sale, the real one")
	require.Equal(t, sold.Price, eventsOf[*protocol.NegotiationSettled](f.history(negotiation))[0].SettledAmount)
	requireRefutedLies(t, failed)
}

// After the close no account contradicts the lie: the events must.
func TestLieIsForgottenAfterTheClose(t *testing.T) {
	f := newFixture(t)
	negotiation := f.settleAt(3_000_000)
	closeOnce := sync.OnceFunc(func() {
		f.do(f.Buyer, f.Client.Negotiation(negotiation).Close(f.Buyer.PublicKey()))
	})
	runtime := f.sellerAt(agent.Config{
		Decide: concede(4_500_000, 500_000, false), Services: services,
		Mints:  f.limits(func(l *agent.Limits) { l.SingleSourceUpTo = 0 }),
		Failed: func(solana.PublicKey, error) { closeOnce() },
	}, f.lyingNodeAbout(protocol.NegotiationStatusSettled, math.MaxInt64, settled), f.lyingNode(0, settled))
	sold, err := runtime.RunOne(f.ctx, negotiation)
	require.NoError(t, err)
	require.Equal(t, protocol.NegotiationStatusSettled, sold.Status)
	require.EqualValues(t, 3_000_000, sold.Price)
}

func TestSettlementAboveSingleSourceLimitIsUnverified(t *testing.T) {
	f := newFixture(t)
	negotiation := f.invite()
	f.run(f.Buyer, agent.Config{Decide: concede(3_000_000, 500_000, true)})
	ended := false
	runtime := f.sellerAt(agent.Config{
		Decide: concede(3_000_000, 500_000, false), Services: [][32]byte{service},
		Mints: f.limits(func(l *agent.Limits) { l.SingleSourceUpTo = 2_999_999 }),
		Ended: func(agent.Result) { ended = true },
	}, f.Chain.RPCURL())
	sold, err := runtime.RunOne(f.ctx, negotiation)
	var unverified *agent.UnverifiedError
	require.ErrorAs(t, err, &unverified)
	require.ErrorIs(t, err, transaction.ErrSingleSource)
	require.ErrorContains(t, err, "do not deliver")
	require.EqualValues(t, 3_000_000, sold.Price)
	require.Equal(t, *sold, unverified.Result)
	require.False(t, ended)
}

// claims claims the next milestone as the seller, and releases it as the buyer.
func claims(_ context.Context, turn agent.Turn) (agent.MilestoneMove, error) {
	n := turn.Negotiation
	if index, reviewed := n.UnderReview(); reviewed {
		return agent.ReleaseMilestone{Index: index}, nil
	}
	for index := range n.MilestoneCount() {
		if n.MilestoneState(index) == protocol.MilestoneStateUnclaimed {
			return agent.ClaimMilestone{Index: index}, nil
		}
	}
	return agent.Wait{}, nil
}

func TestLieAboutAgreementIsNotDelivered(t *testing.T) {
	f := newFixture(t)
	negotiation := f.invite(f.addMilestones)
	arbiters := []solana.PublicKey{f.arbiter}
	f.run(f.Buyer, agent.Config{Decide: concede(3_000_000, 500_000, true), OnMilestone: claims, Arbiters: arbiters})
	var prices []uint64
	var failed []error
	runtime := f.sellerAt(agent.Config{
		Decide: concede(4_500_000, 500_000, false), Services: services, Arbiters: arbiters,
		OnMilestone: func(ctx context.Context, turn agent.Turn) (agent.MilestoneMove, error) {
			prices = append(prices, turn.Negotiation.SettledAmount)
			return claims(ctx, turn)
		},
		Mints:  f.limits(func(l *agent.Limits) { l.SingleSourceUpTo = 0 }),
		Failed: func(_ solana.PublicKey, err error) { failed = append(failed, err) },
	}, f.lyingNode(2, agreed), f.lyingNode(0, agreed))
	sold, err := runtime.RunOne(f.ctx, negotiation)
	require.NoError(t, err)
	require.NotEqual(t, uint64(falsePrice), sold.Price)
	require.Equal(t, []uint64{sold.Price, sold.Price}, prices, "a delivery for each milestone, after the real agreement")
	requireRefutedLies(t, failed)
}

func TestEscrowAboveSingleSourceLimitIsNotDelivered(t *testing.T) {
	f := newFixture(t)
	negotiation := f.invite(f.addMilestones)
	arbiters := []solana.PublicKey{f.arbiter}
	f.run(f.Buyer, agent.Config{Decide: concede(3_000_000, 500_000, true), OnMilestone: claims, Arbiters: arbiters})
	failed := make(chan error, 100)
	runtime := f.sellerAt(agent.Config{
		Decide: concede(3_000_000, 500_000, false), Services: services, Arbiters: arbiters,
		OnMilestone: func(context.Context, agent.Turn) (agent.MilestoneMove, error) {
			t.Error("delivered on the word of one node")
			return agent.Wait{}, nil
		},
		Mints:  f.limits(func(l *agent.Limits) { l.SingleSourceUpTo = 2_999_999 }),
		Failed: func(_ solana.PublicKey, err error) { failed <- err },
	}, f.Chain.RPCURL())
	result := make(chan *agent.Result, 1)
	go func() {
		sold, err := runtime.RunOne(f.ctx, negotiation)
		assert.NoError(t, err)
		result <- sold
	}()
	for range 2 {
		var unverified *agent.UnverifiedError
		err := <-failed
		require.ErrorAs(t, err, &unverified)
		require.ErrorIs(t, err, transaction.ErrSingleSource)
		require.EqualValues(t, 3_000_000, unverified.Result.Price)
	}
	f.advance(40 * 24 * time.Hour)
	sold := <-result
	require.Equal(t, protocol.NegotiationStatusSettled, sold.Status, "the deadline is kept")
	require.Zero(t, sold.Price)
}
