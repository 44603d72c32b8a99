package license_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
	"github.com/haggle-protocol/haggle/sdk/license"
)

// few limits each publisher to two open negotiations.
var few = store.Limits{PerClientHour: 1_000_000, OpenPerClient: 2, OpenPerPublisher: 2}

// open is the number of negotiations that count for the limits.
func (g *gateway) open(t *testing.T) int {
	t.Helper()
	found, err := g.store.Negotiations(t.Context(), store.Filter{Status: engine.Negotiating}, store.Page{})
	require.NoError(t, err)
	return len(found.Items)
}

// overBoth runs a test with a client over REST and one over MCP.
func overBoth(t *testing.T, test func(t *testing.T, g *gateway, client *license.Client)) {
	t.Helper()
	t.Run("REST", func(t *testing.T) {
		g := start(t, few)
		g.publisher(t, "site-a.local", ordinary)
		test(t, g, g.client(t))
	})
	t.Run("MCP", func(t *testing.T) {
		g := start(t, few)
		g.publisher(t, "site-a.local", ordinary)
		test(t, g, g.overMCP(t, keyed{g.key(t, "Company"), http.DefaultTransport}))
	})
}

// The buyer leaves a negotiation ended by the buyer's limits. The next purchase finds the place free.
func TestTheBuyerLeavesWithoutADeal(t *testing.T) {
	overBoth(t, func(t *testing.T, g *gateway, client *license.Client) {
		low := wanted("low", "site-a.local")
		low.MaxPriceMicro = 900
		other := wanted("other", "site-a.local")
		other.TTL = license.Range{Least: 100_000, Preferred: 100_000, Most: 100_000}
		for reason, request := range map[string]license.Request{"price": low, "terms": other} {
			for range 2 { // repeated calls return the same result
				result, err := client.Buy(t.Context(), request)
				require.NoError(t, err)
				bought := result.Purchases[0]
				require.Equal(t, license.NoDeal, bought.Outcome)
				require.True(t, bought.Left, "%+v", bought)
				details, err := client.Status(t.Context(), bought.Negotiation)
				require.NoError(t, err)
				require.Equal(t, license.Rejected, details.Status)
				require.Equal(t, "The client left the negotiation: "+reason, details.Reason)
			}
			require.Zero(t, g.open(t))
		}
		result, err := client.Buy(t.Context(), wanted("deal", "site-a.local"))
		require.NoError(t, err)
		require.Equal(t, license.Deal, result.Purchases[0].Outcome)
		require.False(t, result.Purchases[0].Left)
	})
}

// When interrupted, a purchase leaves the negotiation, and the same request does not open another
// negotiation.
func TestAnInterruptedPurchaseLeaves(t *testing.T) {
	overBoth(t, func(t *testing.T, g *gateway, client *license.Client) {
		interrupted := errors.New("interrupted by the user")
		ctx, interrupt := context.WithCancelCause(t.Context())
		request := wanted("ctrl-c", "site-a.local")
		request.Observe = func(string, license.Step) { interrupt(interrupted) }
		result, err := client.Buy(ctx, request)
		require.ErrorIs(t, err, interrupted)
		require.Len(t, result.Purchases, 1)
		bought := result.Purchases[0]
		require.Equal(t, []any{license.NoDeal, "interrupted", true}, []any{bought.Outcome, bought.Reason, bought.Left})
		details, err := client.Status(t.Context(), bought.Negotiation)
		require.NoError(t, err)
		require.Equal(t, "The client left the negotiation: cancelled", details.Reason)
		require.Zero(t, g.open(t))

		request.Observe = nil
		result, err = client.Buy(t.Context(), request)
		require.NoError(t, err)
		require.Equal(t, license.NoDeal, result.Purchases[0].Outcome)
		require.Equal(t, `an interrupted purchase with the ID "ctrl-c" left the negotiation; use another ID`,
			result.Purchases[0].Reason)
		require.Equal(t, 1, g.negotiations(t))
	})
}

// An agreement that coincides with an interruption stands: there is nothing to leave.
func TestAnInterruptedAgreementStands(t *testing.T) {
	g := start(t, few)
	g.publisher(t, "site-a.local", ordinary)
	client := g.client(t)
	ctx, interrupt := context.WithCancel(t.Context())
	left := 0
	g.after.set(func(r *http.Request) bool {
		if strings.HasSuffix(r.URL.Path, "/leave") {
			left++
		}
		return true
	})
	request := wanted("agreed", "site-a.local")
	request.Observe = func(_ string, step license.Step) {
		if step.Answer == license.ActionAccept {
			interrupt()
		}
	}
	_, err := client.Buy(ctx, request)
	require.ErrorIs(t, err, context.Canceled)
	require.Zero(t, left)
	request.Observe = nil
	result, err := client.Buy(t.Context(), request)
	require.NoError(t, err)
	require.Equal(t, license.Deal, result.Purchases[0].Outcome)
	require.NotNil(t, result.Purchases[0].License)
}

// If a gateway does not respond to the request to leave, the reason names it.
func TestALeaveThatFailsIsInTheReason(t *testing.T) {
	g := start(t, few)
	g.publisher(t, "site-a.local", ordinary)
	g.after.set(func(r *http.Request) bool {
		return !strings.HasSuffix(r.URL.Path, "/leave")
	})
	low := wanted("low", "site-a.local")
	low.MaxPriceMicro = 900
	result, err := g.client(t).Buy(t.Context(), low)
	require.NoError(t, err)
	require.False(t, result.Purchases[0].Left)
	require.Contains(t, result.Purchases[0].Reason, "; the negotiation stays open until its deadline: ")
}
