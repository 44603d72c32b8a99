package haggle

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/internal/solana/rpcpool"
	"github.com/haggle-protocol/haggle/sdk/protocol"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// answering returns a node that sends a fixed result or error as every response, given as JSON.
func answering(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		id, _ := readRequest(r)
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, id, content)
	}
}

// readRequest returns a request's identity, as JSON, and method.
func readRequest(r *http.Request) (id, method string) {
	var request struct {
		ID     json.RawMessage
		Method string
	}
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &request)
	return string(request.ID), request.Method
}

func TestErrorsDoNotDiscloseTheEndpoint(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"no JSON":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"null":     func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("null")) },
		"status":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://other.example"+r.URL.String(), http.StatusTemporaryRedirect)
		},
		"loop": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.String(), http.StatusTemporaryRedirect)
		},
		"no account": answering(`"result":null`),
		"error":      answering(`"error":{"code":-32000,"message":"no"}`),
	}
	for name, answer := range answers {
		for _, fallbacks := range []int{0, 1} {
			t.Run(fmt.Sprintf("%s with %d fallbacks", name, fallbacks), func(t *testing.T) {
				t.Parallel()
				server := httptest.NewServer(answer)
				defer server.Close()
				config := Config{Endpoint: server.URL + "/?api-key=sekrit"}
				for range fallbacks {
					config.Fallbacks = append(config.Fallbacks, server.URL+"/sekrit")
				}
				client, err := NewClient(config)
				require.NoError(t, err)
				defer client.Close()
				_, err = client.GetConfig(t.Context())
				require.Error(t, err)
				assert.NotContains(t, err.Error(), "sekrit")
				_, err = client.Now(t.Context())
				require.Error(t, err)
				assert.NotContains(t, err.Error(), "sekrit")
				for _, health := range client.Nodes() {
					assert.NotContains(t, fmt.Sprint(health), "sekrit")
				}
			})
		}
	}
}

func TestTemporaryNodeErrors(t *testing.T) {
	for code, message := range map[int]string{429: "Too many requests", -32004: "Block not available",
		-32005: "Node is behind", -32602: "io error: Unable to get block: slot unavailable"} {
		assert.True(t, (&transaction.NodeError{Code: code, Message: message}).IsBusy(), code)
	}
	for code, message := range map[int]string{-32602: "Invalid params: WrongSize", -32601: "Method not found",
		403: "Forbidden"} {
		assert.False(t, (&transaction.NodeError{Code: code, Message: message}).IsBusy(), code)
	}
}

func TestCompressedDataIsRefused(t *testing.T) {
	for _, encoding := range []string{`base64+zstd`, `base64\u002bzstd`, `base64+\u007astd`} {
		server := httptest.NewServer(answering(`"result":{"context":{"slot":1},"value":[{"lamports":1,"owner":"` + protocol.ProgramAddress +
			`","data":["KLUv/QQAAQAA","` + encoding + `"],"executable":false,"rentEpoch":0}]}`))
		client, err := NewClient(Config{Endpoint: server.URL})
		require.NoError(t, err)
		_, err = client.GetConfig(t.Context())
		require.ErrorIs(t, err, rpcpool.ErrCompressed, encoding)
		require.NoError(t, client.Close())
		server.Close()
	}
}
