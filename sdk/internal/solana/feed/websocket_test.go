package feed

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// program is the program used by the tests.
var program = solana.PublicKey{1, 2, 3}

// logServer runs a WebSocket server that answers each message with the messages of answer, and returns the
// URL.
func logServer(t *testing.T, answer func(request string) []string) string {
	t.Helper()
	var upgrader websocket.Upgrader
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer conn.Close()
		for {
			_, request, err := conn.ReadMessage()
			if err != nil {
				return
			}
			for _, text := range answer(string(request)) {
				if text == "hang up" || conn.WriteMessage(websocket.TextMessage, []byte(text)) != nil {
					return
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	return strings.Replace(server.URL, "http", "ws", 1)
}

func serveLogs(t *testing.T, answer func(request string) []string) (*logConn, <-chan events.Hint) {
	t.Helper()
	hints := make(chan events.Hint, 16)
	stream, err := dialLogs(t.Context(), nil, logServer(t, answer), events.Options{
		Program: program, Commitment: rpc.CommitmentConfirmed,
		Notify: func(n events.Hint) { hints <- n },
	})
	require.NoError(t, err)
	t.Cleanup(stream.close)
	return stream, hints
}

func notified(n int, chainError string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"logsNotification","params":{"subscription":7,"result":{"context":{"slot":%d},"value":{"signature":"%s","err":%s,"logs":["a"]}}}}`,
		n, numbered(n), chainError)
}

func awaitEnd(t *testing.T, stream *logConn) error {
	t.Helper()
	select {
	case <-stream.done:
	case <-time.After(10 * time.Second):
		t.Fatal("the connection does not end")
	}
	return stream.closeError()
}

func TestHintsOfSuccessfulTransactionsAreInOrder(t *testing.T) {
	stream, hints := serveLogs(t, func(request string) []string {
		assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"method":"logsSubscribe","params":[{"mentions":["`+program.String()+`"]},{"commitment":"confirmed"}]}`, request)
		return []string{notified(1, "null"), `{"jsonrpc":"2.0","id":1,"result":7}`,
			notified(2, `{"InstructionError":[0,{"Custom":1}]}`), notified(3, "null")}
	})
	require.NoError(t, stream.subscribe(t.Context(), []solana.PublicKey{program}))
	for _, n := range []int{1, 3} {
		assert.Equal(t, events.Hint{Address: program, Signature: numbered(n), Slot: uint64(n),
			Unrelated: true}, <-hints)
	}
}

func TestHintsOfOtherProgramsAreUnrelated(t *testing.T) {
	logs := map[string]bool{
		`["Program 11111111111111111111111111111111 invoke [1]"]`: true,
		`[]`: true,
		`["Program ` + program.String() + ` invoke [2]"]`:                               false,
		`["Program 11111111111111111111111111111111 invoke [1]","Log truncated"]`:       false,
		`["Program 11111111111111111111111111111111 invoke [1]","Program log: \u0050"]`: false,
		`["Program log: Program ` + program.String() + ` invoke [1]"]`:                  false,
	}
	stream, _ := serveLogs(t, func(string) []string { return nil })
	for text, unrelatedTo := range logs {
		assert.Equal(t, unrelatedTo, stream.unrelated([]byte(`{"value":{"logs":`+text+`}}`)), text)
	}
	assert.False(t, stream.unrelated([]byte(`{"value":{"logs":null}}`)))
	assert.False(t, stream.unrelated([]byte(`{"value":{}}`)))
}

func TestRefusedSubscriptionIsAnError(t *testing.T) {
	stream, _ := serveLogs(t, func(string) []string {
		return []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`}
	})
	err := stream.subscribe(t.Context(), []solana.PublicKey{program})
	var refused *transaction.NodeError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, transaction.CodeMethodNotFound, refused.Code)
	assert.True(t, isPermanent(err))
}

func TestLimitOfSubscriptionsIsNotPermanent(t *testing.T) {
	stream, _ := serveLogs(t, func(string) []string {
		return []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Too many subscriptions"}}`}
	})
	err := stream.subscribe(t.Context(), []solana.PublicKey{program})
	require.ErrorIs(t, err, ErrFull)
	assert.False(t, isPermanent(err))
	assert.False(t, isPermanent(&refusedByNode{err}))
}

func TestEndOfTheConnectionEndsPendingSubscriptions(t *testing.T) {
	stream, _ := serveLogs(t, func(string) []string { return []string{"hang up"} })
	err := stream.subscribe(t.Context(), []solana.PublicKey{program})
	require.ErrorContains(t, err, "connection closed")
	assert.False(t, isPermanent(err))
	require.ErrorContains(t, awaitEnd(t, stream), "connection closed")
	require.Error(t, stream.subscribe(t.Context(), []solana.PublicKey{program}))
}

func TestInvalidMessageEndsTheConnection(t *testing.T) {
	for _, nonsense := range []string{"nonsense", "[]", `{"id":1,"result":"x"}`,
		`{"params":{"result":{"value":{"signature":"x"}}}}`} {
		stream, _ := serveLogs(t, func(string) []string { return []string{nonsense} })
		require.Error(t, stream.subscribe(t.Context(), []solana.PublicKey{{}}), nonsense)
		require.Error(t, awaitEnd(t, stream), nonsense)
	}
}

func TestFloodOfUnknownSubscriptionsEndsTheConnection(t *testing.T) {
	stream, _ := serveLogs(t, func(string) []string {
		flood := make([]string, maxEarly+1)
		for i := range flood {
			flood[i] = notified(i+1, "null")
		}
		return flood
	})
	require.ErrorContains(t, stream.subscribe(t.Context(), []solana.PublicKey{program}),
		"unknown subscriptions")
}
