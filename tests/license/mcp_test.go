package license_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/license"
)

// overMCP returns a client that uses MCP.
func (g *gateway) overMCP(t testing.TB, transport http.RoundTripper) *license.Client {
	t.Helper()
	connected, err := license.ConnectMCP(t.Context(), g.negotiation+"/mcp", &http.Client{Transport: transport})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, connected.Close()) })
	client, err := license.NewClient(license.Config{Gateway: connected})
	require.NoError(t, err)
	return client
}

// Over MCP the same purchase leads to the same result, and MCP requests can continue a purchase that began
// over REST.
func TestADealOverMCP(t *testing.T) {
	g := start(t, many)
	g.publisher(t, "site-a.local", ordinary)
	transport := keyed{g.key(t, "Company"), http.DefaultTransport}
	client := g.overMCP(t, transport)

	result, err := client.Buy(t.Context(), wanted("mcp", "site-a.local"))
	require.NoError(t, err)
	bought := result.Purchases[0]
	require.Equal(t, license.Deal, bought.Outcome, "%+v", bought)
	require.Equal(t, "Company", bought.License.Policy.Rules[0].Agent)
	for listed, err := range client.Licenses(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, *bought.License, listed)
	}
	other, err := g.with(t, transport).Buy(t.Context(), wanted("mcp", "site-a.local"))
	require.NoError(t, err)
	require.Equal(t, bought.License, other.Purchases[0].License)
	require.Equal(t, 1, g.negotiations(t))

	for p, err := range client.Publishers(t.Context()) {
		require.NoError(t, err)
		require.Equal(t, "site-a.local", p.Hostname)
	}
	_, err = client.Status(t.Context(), "00000000-0000-7000-8000-000000000000")
	require.ErrorIs(t, err, license.ErrNotFound)
}
