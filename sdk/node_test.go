package haggle

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestErrorsDoNotGiveAwayTheEndpoint(t *testing.T) {
	answers := map[string]http.HandlerFunc{
		"hangs up": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"no JSON":  func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"null":     func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("null")) },
		"status":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
		"no account": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":null}`))
		},
		"error": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no"}}`))
		},
	}
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(answer)
			defer server.Close()
			client, err := NewClient(Config{Endpoint: server.URL + "/?api-key=sekrit"})
			require.NoError(t, err)
			defer client.Close()
			_, err = client.GetConfig(t.Context())
			require.Error(t, err)
			assert.NotContains(t, err.Error(), "sekrit")
			_, err = client.latestBlockhash(t.Context())
			require.Error(t, err)
			assert.NotContains(t, err.Error(), "sekrit")
		})
	}
}

func TestEndlessAnswerIsCutOff(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 100)) }))
	defer server.Close()
	for limit, fits := range map[int64]bool{99: false, 100: true} {
		client := http.Client{Transport: &boundedTransport{limit: limit}}
		response, err := client.Get(server.URL)
		require.NoError(t, err)
		read, err := io.ReadAll(response.Body)
		require.NoError(t, response.Body.Close())
		assert.Len(t, read, int(limit))
		assert.Equal(t, fits, err == nil)
		client.CloseIdleConnections()
	}
}

func TestStatesOfANodeThatPass(t *testing.T) {
	for code, message := range map[int]string{429: "Too many requests", -32004: "Block not available", -32005: "Node is behind", -32602: "io error: Unable to get block: slot unavailable"} {
		assert.True(t, (&NodeError{Code: code, Message: message}).busy(), code)
	}
	for code, message := range map[int]string{-32602: "Invalid params: WrongSize", -32601: "Method not found", 403: "Forbidden"} {
		assert.False(t, (&NodeError{Code: code, Message: message}).busy(), code)
	}
}

func TestCompressedDataIsRefused(t *testing.T) {
	for _, encoding := range []string{`base64+zstd`, `base64\u002bzstd`, `base64+\u007astd`} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":1,"result":{"context":{"slot":1},"value":[{"lamports":1,"owner":"` + ProgramAddress +
				`","data":["KLUv/QQAAQAA","` + encoding + `"],"executable":false,"rentEpoch":0}]}}`))
		}))
		client, err := NewClient(Config{Endpoint: server.URL})
		require.NoError(t, err)
		_, err = client.GetConfig(t.Context())
		require.ErrorIs(t, err, errCompressed, encoding)
		require.NoError(t, client.Close())
		server.Close()
	}
	require.NoError(t, refuseCompressed([]byte(`{"logs":["Program log: base64+zstd is a name", "\u0001"]}`)))
}
