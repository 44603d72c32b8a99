package preflight_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/internal/preflight"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// deadURL returns a URL that nothing listens on.
func deadURL(t *testing.T) string {
	t.Helper()
	dead := httptest.NewServer(http.NotFoundHandler())
	dead.Close()
	return dead.URL
}

func newClient(t *testing.T, config haggle.Config) *haggle.Client {
	t.Helper()
	client, err := haggle.NewClient(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	return client
}

// results runs the checks and returns their results by check; of several results for the same check, the
// worst.
func results(t *testing.T, config preflight.Config) map[preflight.Check]preflight.Result {
	t.Helper()
	found := map[preflight.Check]preflight.Result{}
	for result := range preflight.Run(t.Context(), config) {
		require.NotEmpty(t, result.Text)
		require.NotContains(t, result.Text, "\n")
		require.Equal(t, result.Status == preflight.OK, result.Err == nil)
		require.Equal(t, result.Status == preflight.OK, result.Advice == "")
		if before, known := found[result.Check]; !known || before.Status == preflight.OK {
			found[result.Check] = result
		}
	}
	return found
}

func requireResult(
	t *testing.T, found map[preflight.Check]preflight.Result,
	check preflight.Check, status preflight.Status, text string,
) {
	t.Helper()
	require.Equal(t, status, found[check].Status, "%v", found[check])
	require.Contains(t, found[check].Text, text)
}

type unusable struct{}

func (unusable) CheckUsable() error { return errors.New("limits are zero") }

func TestUnreachableNodeSkipsTheChecksThatNeedOne(t *testing.T) {
	endpoint := deadURL(t)
	client := newClient(t, haggle.Config{Endpoint: endpoint})
	began := time.Now()
	found := results(t, preflight.Config{Client: client, Wallet: solana.PublicKey{1}, Policy: unusable{}})
	require.Less(t, time.Since(began), 30*time.Second)
	require.Len(t, found, 2)
	requireResult(t, found, preflight.CheckNode, preflight.Problem, strings.TrimPrefix(endpoint, "http://"))
	require.Contains(t, found[preflight.CheckNode].Advice, "check Endpoint")
	requireResult(t, found, preflight.CheckPolicy, preflight.Problem, "signs nothing: limits are zero")
}

func TestChecksOfALocalChain(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	net, err := localnet.Start(ctx, localnet.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, net.Close()) })
	buyer := preflight.Config{
		Client: net.Client, Wallet: net.Buyer.PublicKey(), Mints: []solana.PublicKey{net.Mint},
		Role: preflight.RoleBuyer,
	}
	for check, result := range results(t, buyer) {
		require.Equal(t, preflight.OK, result.Status, "%s: %v", check, result)
	}

	stranger := buyer
	stranger.Wallet, stranger.Role = solana.PublicKey{31: 7}, preflight.RoleAny
	found := results(t, stranger)
	requireResult(t, found, preflight.CheckLamports, preflight.Problem,
		"has 0.000000000 SOL, needs at least 0.000100000")
	requireResult(t, found, preflight.CheckTokens, preflight.Warning, "has no tokens")
	stranger.Role = preflight.RoleBuyer
	requireResult(t, results(t, stranger), preflight.CheckTokens, preflight.Problem, "has no tokens")
	stranger.Role = preflight.RoleSeller
	require.NotContains(t, results(t, stranger), preflight.CheckTokens)

	rich := buyer
	rich.WantedLamports = 1_000 * solana.LAMPORTS_PER_SOL
	requireResult(t, results(t, rich), preflight.CheckLamports, preflight.Warning, "enough for fees")

	other := buyer
	other.Mints = []solana.PublicKey{net.Mint, {31: 5}}
	found = results(t, other)
	requireResult(t, found, preflight.CheckMint, preflight.Problem, "account not found")
	require.ErrorIs(t, found[preflight.CheckMint].Err, protocol.ErrAccountNotFound)

	// The WebSocket port is wrong, and one of two nodes does not respond.
	partly := buyer
	partly.Client = newClient(t, haggle.Config{
		Endpoint: net.Chain.RPCURL(), WSEndpoint: "ws" + strings.TrimPrefix(net.Chain.RPCURL(), "http"),
		Fallbacks: []string{deadURL(t)},
	})
	found = results(t, partly)
	requireResult(t, found, preflight.CheckNode, preflight.Warning, "node 127.0.0.1:")
	requireResult(t, found, preflight.CheckEvents, preflight.Problem, "events: ")
	require.Contains(t, found[preflight.CheckEvents].Text, strings.TrimPrefix(net.Chain.RPCURL(), "http://"))

	now, err := net.Chain.Now(ctx)
	require.NoError(t, err)
	require.NoError(t, net.Chain.AdvanceTo(ctx, now+600))
	requireResult(t, results(t, buyer), preflight.CheckClock, preflight.Warning, "behind the chain's")
}
