package agent_test

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sync/atomic"
	"testing"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/agent"
	"github.com/haggle-protocol/haggle/sdk/node"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

var encodedData = regexp.MustCompile(`"([A-Za-z0-9+/=]{400,})"`)

// lyingNode returns the URL of a node that forwards requests to the chain. It claims a number of times that a
// negotiation waiting for the seller's answer is settled for 4.9 tokens.
func (f *fixture) lyingNode(lies int64) string {
	var left atomic.Int64
	left.Store(lies)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		request, err := http.NewRequestWithContext(r.Context(), r.Method, f.Chain.RPCURL, r.Body)
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
			lie := settledFor(quoted, 4_900_000)
			if lie == nil || left.Add(-1) < 0 {
				return quoted
			}
			return lie
		})
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	}))
	f.t.Cleanup(proxy.Close)
	return proxy.URL
}

// settledFor changes the JSON string of a proposed negotiation's account. It returns nil for other strings.
func settledFor(quoted []byte, price uint64) []byte {
	data, err := base64.StdEncoding.DecodeString(string(bytes.Trim(quoted, `"`)))
	if err != nil {
		return nil
	}
	var n protocol.Negotiation
	if err := n.Decode(data); err != nil || n.Status != protocol.NegotiationStatusProposed {
		return nil
	}
	n.Status, n.SettledAmount, n.PaidGross = protocol.NegotiationStatusSettled, price, price
	return []byte(`"` + base64.StdEncoding.EncodeToString(n.Encode()) + `"`)
}

// sellerAt returns the runtime of a seller with nodes.
func (f *fixture) sellerAt(config agent.Config, nodes ...string) *agent.Runtime {
	f.t.Helper()
	client, err := haggle.NewClient(haggle.Config{
		Endpoint: nodes[0], Fallbacks: nodes[1:], WSEndpoint: f.Chain.WSURL,
	})
	require.NoError(f.t, err)
	f.t.Cleanup(func() { require.NoError(f.t, client.Close()) })
	runtime, err := agent.New(client, f.Seller, config)
	require.NoError(f.t, err)
	return runtime
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
	}, f.lyingNode(2), f.lyingNode(0))
	sold, err := runtime.RunOne(f.ctx, negotiation)
	require.NoError(t, err)
	require.Equal(t, protocol.NegotiationStatusSettled, sold.Status)
	require.NotEqual(t, uint64(4_900_000), sold.Price)
	require.Equal(t, []agent.Result{*sold}, ended, "one sale, the real one")
	require.Equal(t, sold.Price, eventsOf[*protocol.NegotiationSettled](f.history(negotiation))[0].SettledAmount)
	require.Empty(t, failed, "the later settlement replaces the verification of the lie")
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
	}, f.Chain.RPCURL)
	sold, err := runtime.RunOne(f.ctx, negotiation)
	var unverified *agent.UnverifiedError
	require.ErrorAs(t, err, &unverified)
	require.ErrorIs(t, err, node.ErrSingleSource)
	require.ErrorContains(t, err, "do not deliver")
	require.EqualValues(t, 3_000_000, sold.Price)
	require.Equal(t, *sold, unverified.Result)
	require.False(t, ended)
}
