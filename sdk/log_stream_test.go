package haggle

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
)

// logServer runs a WebSocket server that answers each message with those that answer returns, and says where.
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

func serveLogs(t *testing.T, answer func(request string) []string) *logStream {
	t.Helper()
	stream, err := dialLogs(t.Context(), logServer(t, answer), rpc.CommitmentConfirmed)
	require.NoError(t, err)
	t.Cleanup(stream.close)
	return stream
}

func told(n int, chainError string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"logsNotification","params":{"subscription":7,"result":{"context":{"slot":%d},"value":{"signature":"%s","err":%s,"logs":["a"]}}}}`,
		n, numbered(n), chainError)
}

func awaitEnd(t *testing.T, stream *logStream) error {
	t.Helper()
	select {
	case <-stream.done:
	case <-time.After(10 * time.Second):
		t.Fatal("the connection does not end")
	}
	return stream.failure()
}

func TestSuccessfulTransactionsAreTakenInTheirOrder(t *testing.T) {
	stream := serveLogs(t, func(request string) []string {
		assert.JSONEq(t, `{"jsonrpc":"2.0","id":1,"method":"logsSubscribe","params":[{"mentions":["`+ProgramAddress+`"]},{"commitment":"confirmed"}]}`, request)
		return []string{told(1, "null"), `{"jsonrpc":"2.0","id":1,"result":7}`, told(2, `{"InstructionError":[0,{"Custom":1}]}`), told(3, "null")}
	})
	subscription, err := stream.subscribe(t.Context(), ProgramID)
	require.NoError(t, err)
	assert.EqualValues(t, 7, subscription)

	var taken []solana.Signature
	for len(taken) < 2 {
		<-stream.wake
		taken = append(taken, stream.take()...)
	}
	assert.Equal(t, []solana.Signature{numbered(1), numbered(3)}, taken)
	assert.Empty(t, stream.take())
}

func TestRefusedSubscriptionIsAnError(t *testing.T) {
	stream := serveLogs(t, func(string) []string {
		return []string{`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`}
	})
	_, err := stream.subscribe(t.Context(), ProgramID)
	var refused *NodeError
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, methodNotFound, refused.Code)
	assert.True(t, isPermanent(err))
}

func TestConnectionThatEndsEndsWhatWaitsForIt(t *testing.T) {
	stream := serveLogs(t, func(string) []string { return []string{"hang up"} })
	_, err := stream.subscribe(t.Context(), ProgramID)
	require.ErrorContains(t, err, "has ended")
	assert.False(t, isPermanent(err))
	require.ErrorContains(t, awaitEnd(t, stream), "has ended")
	_, err = stream.subscribe(t.Context(), ProgramID)
	require.Error(t, err)
}

func TestNonsenseEndsTheConnection(t *testing.T) {
	for _, nonsense := range []string{"nonsense", "[]", `{"id":1,"result":"x"}`, `{"params":{"result":{"value":{"signature":"x"}}}}`} {
		stream := serveLogs(t, func(string) []string { return []string{nonsense} })
		_, err := stream.subscribe(t.Context(), solana.PublicKey{})
		require.Error(t, err, nonsense)
		require.Error(t, awaitEnd(t, stream), nonsense)
	}
}

func TestSlowListenerCostsTheConnection(t *testing.T) {
	stream := serveLogs(t, func(string) []string {
		flood := make([]string, backlogLimit+1)
		for i := range flood {
			flood[i] = told(i+1, "null")
		}
		return append([]string{`{"id":1,"result":7}`}, flood...)
	})
	_, err := stream.subscribe(t.Context(), ProgramID)
	require.NoError(t, err)
	require.ErrorIs(t, awaitEnd(t, stream), errBacklog)
	assert.Len(t, stream.take(), backlogLimit)
}
