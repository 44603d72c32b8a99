package haggle

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

func TestWebSocketsOfFallbacks(t *testing.T) {
	client, err := NewClient(Config{Endpoint: "http://one:1",
		Fallbacks: []string{"http://two:2", "https://three/key"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"ws://two:3", "wss://three/key"}, client.wsFallbacks)
	client, err = NewClient(Config{Endpoint: "http://one:1", Fallbacks: []string{"http://two:2"},
		WSFallbacks: []string{"wss://else"}})
	require.NoError(t, err)
	assert.Equal(t, []string{"wss://else"}, client.wsFallbacks)
}

func TestErrorsOfFallbacksDoNotDiscloseTheirURLs(t *testing.T) {
	for want, config := range map[string]Config{
		"Fallbacks[1]: not an http or https URL": {Fallbacks: []string{"http://two",
			"ws://three/sekrit"}},
		"Fallbacks[0]: URL has no host": {Fallbacks: []string{"http:///sekrit"}},
		"WSFallbacks: 1 URLs for 2 Fallbacks": {Fallbacks: []string{"http://two",
			"http://three"}, WSFallbacks: []string{"ws://sekrit"}},
		"WSFallbacks[0]: not a ws or wss URL": {Fallbacks: []string{"http://two"},
			WSFallbacks: []string{"http://two/sekrit"}},
		"no port after 65535":                              {Fallbacks: []string{"http://two:65535/sekrit"}},
		"RequestsPerSecond must be zero or positive: -1":   {RequestsPerSecond: -1},
		"RequestsPerSecond must be zero or positive: NaN":  {RequestsPerSecond: math.NaN()},
		"RequestsPerSecond must be zero or positive: +Inf": {RequestsPerSecond: math.Inf(1)},
	} {
		config.Endpoint = "http://one"
		_, err := NewClient(config)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "sekrit")
	}
}

func TestMalformedAnswerDiffersFromARefusal(t *testing.T) {
	for name, answer := range map[string]string{
		"no JSON":            `<html>welcome</html>`,
		"another shape":      `{"jsonrpc":"2.0","id":ID,"result":{"context":{"slot":1},"value":7}}`,
		"too few":            `{"jsonrpc":"2.0","id":ID,"result":{"context":{"slot":1},"value":[]}}`,
		"to another request": `{"jsonrpc":"2.0","id":"other","result":{"context":{"slot":1},"value":[null]}}`,
		"compressed":         `{"jsonrpc":"2.0","id":ID,"result":{"context":{"slot":1},"value":[{"data":["KLUv","base64+zstd"]}]}}`,
		"without data":       `{"jsonrpc":"2.0","id":ID,"result":{"context":{"slot":1},"value":[{"lamports":1,"owner":"11111111111111111111111111111111"}]}}`,
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			id, _ := readRequest(r)
			fmt.Fprint(w, strings.ReplaceAll(answer, "ID", string(id)))
		}))
		client, err := NewClient(Config{Endpoint: server.URL})
		require.NoError(t, err)
		_, err = client.Negotiation(solana.PublicKey{1}).Snapshot(t.Context())
		require.ErrorIs(t, err, transaction.ErrMalformed, name)
		assert.NotErrorIs(t, err, transaction.ErrBehind, name)
		require.NoError(t, client.Close())
		server.Close()
	}
}

// A new client knows no slot. If it did not request the remaining nodes, it could use a lagging node's
// response.
func TestNewClientDoesNotDecideOnAnOldState(t *testing.T) {
	at := func(slot uint64) *scriptedNode {
		_, node, _ := newScripted(t, map[string]func(int) (any, error){
			"getGenesisHash": always(solana.Hash{5}.String()),
			"getSlot":        always(slot),
		})
		clock := make([]byte, clockSize)
		clock[clockOffsetUnixTime] = byte(slot)
		account := answerOf(sysvarOwner, 1, clock)
		node.answers["getMultipleAccounts"] = always(object{"context": object{"slot": slot},
			"value": []any{account}})
		return node
	}
	client, err := NewClient(Config{Endpoint: "http://localhost"})
	require.NoError(t, err)
	client.useNodes(at(50), at(100))
	now, err := client.Now(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, 100, now)
	require.NoError(t, client.Close())
}

const testGenesis = `"4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY"`

// chainAt is a node of the test's chain at the given slot.
func chainAt(slot uint64, genesis string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, method := readRequest(r)
		result := genesis
		if method != "getGenesisHash" {
			result = fmt.Sprintf(`{"context":{"slot":%d},"value":[]}`, slot)
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result)
	}
}

func TestClientFailsOverToOtherNodes(t *testing.T) {
	down := false
	one := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down {
			panic(http.ErrAbortHandler)
		}
		chainAt(100, testGenesis)(w, r)
	}))
	defer one.Close()
	behind := httptest.NewServer(chainAt(40, testGenesis))
	defer behind.Close()
	foreign := httptest.NewServer(chainAt(900, `"EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG"`))
	defer foreign.Close()
	well := httptest.NewServer(chainAt(101, testGenesis))
	defer well.Close()
	client, err := NewClient(Config{Endpoint: one.URL, Fallbacks: []string{behind.URL, foreign.URL, well.URL},
		HedgeAfter: -1})
	require.NoError(t, err)
	defer client.Close()

	read := func() (uint64, error) {
		_, slot, err := client.accounts(t.Context())
		return slot, err
	}
	slot, err := read()
	require.NoError(t, err)
	assert.EqualValues(t, 100, slot)
	down = true
	slot, err = read()
	require.NoError(t, err)
	assert.EqualValues(t, 101, slot)
	nodes := client.Nodes()
	require.Len(t, nodes, 4)
	require.ErrorIs(t, nodes[1].Err, transaction.ErrBehind)
	assert.EqualValues(t, 60, nodes[1].Lag)
	require.ErrorIs(t, nodes[2].Err, transaction.ErrOtherCluster)
	assert.Contains(t, nodes[2].Err.Error(),
		"EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG instead of 4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY")
	require.NoError(t, nodes[3].Err)
	assert.EqualValues(t, 1, nodes[3].Requests)

	well.Close()
	_, err = read()
	require.ErrorIs(t, err, transaction.ErrBehind)
	require.ErrorIs(t, err, transaction.ErrOtherCluster)
	assert.Contains(t, err.Error(), "haggle: getMultipleAccounts: 127.0.0.1:")
}

func TestClusterCanBePinned(t *testing.T) {
	server := httptest.NewServer(chainAt(100, testGenesis))
	defer server.Close()
	client, err := NewClient(Config{Endpoint: server.URL, GenesisHash: solana.Hash{1}})
	require.NoError(t, err)
	defer client.Close()
	_, err = client.Now(t.Context())
	require.ErrorIs(t, err, transaction.ErrOtherCluster)
}

func TestRetryAfterIsRespected(t *testing.T) {
	calls := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls++
		if calls == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		chainAt(100, testGenesis)(w, r)
	}))
	defer server.Close()
	client, err := NewClient(Config{Endpoint: server.URL})
	require.NoError(t, err)
	defer client.Close()
	began := time.Now()
	_, _, err = client.accounts(t.Context())
	require.NoError(t, err)
	assert.GreaterOrEqual(t, time.Since(began), time.Second)
	assert.Equal(t, 2, calls)
}

func TestCloseReleasesAllResources(t *testing.T) {
	before := goleak.IgnoreCurrent()
	release := make(chan struct{})
	servers := []*httptest.Server{
		httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = readRequest(r)
			select { // slowly
			case <-release:
			case <-r.Context().Done():
			}
		})),
		httptest.NewServer(chainAt(100, testGenesis)),
	}
	client, err := NewClient(Config{Endpoint: servers[0].URL, Fallbacks: []string{servers[1].URL},
		HedgeAfter: time.Millisecond})
	require.NoError(t, err)
	_, _, err = client.accounts(t.Context())
	require.NoError(t, err)
	var signature string
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, client.RPC().RPCCallForInto(ctx, &signature, "sendTransaction", []any{"nonsense"}),
		context.DeadlineExceeded)
	require.NoError(t, client.Close())
	close(release)
	for _, server := range servers {
		server.Close()
	}
	goleak.VerifyNone(t, before)
}
