package rpcpool

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// serve runs a server and sends it a request.
func serve(t *testing.T, handler http.HandlerFunc) (json.RawMessage, error) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	transport := NewHTTP(server.URL+"/sekrit?api-key=sekrit", &http.Client{Transport: &http.Transport{}})
	defer transport.CloseIdleConnections()
	result, err := transport.Call(t.Context(), "getSlot", []any{map[string]string{"commitment": "confirmed"}})
	if err != nil {
		assert.NotContains(t, err.Error(), "sekrit")
	}
	return result, err
}

// idOf returns a request's id as JSON.
func idOf(r *http.Request) string {
	var request struct{ ID json.RawMessage }
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &request)
	return string(request.ID)
}

// answer returns a server whose response is a text where %s stands for the request's id.
func answer(status int, text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, strings.ReplaceAll(text, "%s", idOf(r)))
	}
}

func TestRequestIsJSONRPC(t *testing.T) {
	result, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var request map[string]any
		assert.NoError(t, json.Unmarshal(body, &request))
		assert.Equal(t, "application/json", r.Header.Get("Content-Type"))
		assert.Equal(t, http.MethodPost, r.Method)
		id := request["id"]
		delete(request, "id")
		assert.Equal(t, map[string]any{"jsonrpc": "2.0", "method": "getSlot", "params": []any{map[string]any{"commitment": "confirmed"}}}, request)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","result":7,"id":%q,"usage":{"credits":1}}`, id)
	})
	require.NoError(t, err)
	assert.Equal(t, "7", string(result))
	result, err = serve(t, answer(200, `{"jsonrpc":"2.0","result":null,"id":%s}`))
	require.NoError(t, err)
	assert.Equal(t, "null", string(result))
}

func TestMalformedAnswers(t *testing.T) {
	cases := map[string]struct {
		handler http.HandlerFunc
		is      error
		says    string
	}{
		"a page":          {answer(200, "<html>blocked</html>"), nil, "content other than JSON-RPC (text/html)"},
		"nothing":         {answer(200, ""), io.ErrUnexpectedEOF, "the node does not answer"},
		"null":            {answer(200, "null"), errNoAnswer, "the node does not answer"},
		"no result":       {answer(200, `{"jsonrpc":"2.0","id":%s}`), errNoAnswer, "the node does not answer"},
		"half":            {answer(200, `{"jsonrpc":"2.0","id":%s,"result":{"context":`), io.ErrUnexpectedEOF, "truncated"},
		"more":            {answer(200, `{"jsonrpc":"2.0","id":%s,"result":7}{`), nil, "more follows"},
		"another's":       {answer(200, `{"jsonrpc":"2.0","id":"1","result":7}`), errOther, "an answer to another request"},
		"without an id":   {answer(200, `{"jsonrpc":"2.0","result":7}`), errOther, "an answer to another request"},
		"another's error": {answer(200, `{"jsonrpc":"2.0","id":"1","error":{"code":-32602,"message":"no"}}`), errOther, "an answer to another request"},
		"a list":          {answer(200, `[7]`), nil, "content other than JSON-RPC"},
		"a cut body": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
		}, io.ErrUnexpectedEOF, "unexpected EOF"},
		"a cut connection": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, io.EOF, "EOF"},
		"another host":     {redirectTo("http://other.example/sekrit", http.StatusTemporaryRedirect), nil, "redirects to another host, other.example"},
		"a GET request":    {redirectTo("/sekrit", http.StatusFound), nil, "redirects to a GET request"},
		"a circle":         {redirectTo("/sekrit", http.StatusPermanentRedirect), nil, "too often"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := serve(t, c.handler)
			require.Error(t, err)
			assert.ErrorContains(t, err, c.says)
			if c.is != nil {
				assert.ErrorIs(t, err, c.is)
			}
			assert.Nil(t, refusalOf(err), "the outcome of the request is unknown")
		})
	}
}

func redirectTo(target string, status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, status) }
}

func TestRedirectOnTheSameHostIsFollowed(t *testing.T) {
	result, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sekrit" {
			http.Redirect(w, r, "/v2", http.StatusTemporaryRedirect)
			return
		}
		fmt.Fprintf(w, `{"id":%s,"result":7}`, idOf(r))
	})
	require.NoError(t, err)
	assert.Equal(t, "7", string(result))
}

func TestRedirectToAnUnprotectedConnectionIsRefused(t *testing.T) {
	first, err := http.NewRequest(http.MethodPost, "https://rpc.example/", nil)
	require.NoError(t, err)
	next, err := http.NewRequest(http.MethodPost, "http://rpc.example/", nil)
	require.NoError(t, err)
	require.Error(t, refuseRedirect(next, []*http.Request{first}))
	require.NoError(t, refuseRedirect(first, []*http.Request{next}))
}

func TestRefusals(t *testing.T) {
	refusal := func(handler http.HandlerFunc) *transaction.NodeError {
		_, err := serve(t, handler)
		require.Error(t, err)
		found := refusalOf(err)
		require.NotNil(t, found)
		return found
	}
	r := refusal(answer(200, `{"id":%s,"error":{"code":-32002,"message":"no","data":{"err":{"InstructionError":[0,{"Custom":6001}]}}}}`))
	assert.Equal(t, -32002, r.Code)
	assert.Equal(t, "no", r.Message)
	assert.Equal(t, map[string]any{"err": map[string]any{"InstructionError": []any{json.Number("0"), map[string]any{"Custom": json.Number("6001")}}}}, r.Data)
	var client *jsonrpc.RPCError
	require.ErrorAs(t, r, &client)

	r = refusal(answer(429, `{"id":null,"error":{"code":-32000,"message":"slow down"}}`))
	assert.Equal(t, -32000, r.Code)
	assert.True(t, r.IsBusy(), "by its status")
	assert.False(t, MeansNotForwarded(r))

	for _, status := range []int{401, 403, 404, 429, 500, 502, 503, 520} {
		for _, text := range []string{"", "<html>", `{"id":%s,"result":7}`, `{"jsonrpc":`} {
			r = refusal(answer(status, text))
			assert.Equal(t, status, r.Code)
			var status *jsonrpc.HTTPError
			require.ErrorAs(t, r, &status)
		}
	}
}

func TestRefusalHasItsRetryAfter(t *testing.T) {
	_, err := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	assert.Equal(t, 3*time.Second, refusalOf(err).RetryAfter)
}

func TestAnswerLengthIsLimited(t *testing.T) {
	server := httptest.NewServer(answer(200, `{"id":%s,"result":"`+strings.Repeat("x", 1_000)+`"}`))
	defer server.Close()
	transport := NewHTTP(server.URL, server.Client()).(*httpTransport)
	defer transport.CloseIdleConnections()
	transport.limit = 1_000
	_, err := transport.Call(t.Context(), "getSlot", nil)
	require.ErrorContains(t, err, "longer than 1000 bytes")
	transport.limit = 2_000
	_, err = transport.Call(t.Context(), "getSlot", nil)
	require.NoError(t, err)
}

func TestLookupErrorHidesTheURL(t *testing.T) {
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "rpc.example", IsNotFound: true}}
	}}}
	transport := NewHTTP("https://user:sekrit@rpc.example/sekrit?key=sekrit", client)
	_, err := transport.Call(t.Context(), "getSlot", nil)
	require.EqualError(t, err, "dial: lookup rpc.example: no such host")
}
