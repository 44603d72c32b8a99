package jsonrpc_test

import (
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// subscribe records a subscription, and returns the identifier.
func (s *session) subscribe(name, method string, params ...any) string {
	s.Helper()
	return text(s.callSocket(name, method, params...))
}

// callSocket sends a request by WebSocket, records it with the response, and returns the result.
func (s *session) callSocket(name, method string, params ...any) any {
	s.Helper()
	body, id := s.body(method, params)
	require.NoError(s, s.socket.WriteMessage(websocket.TextMessage, []byte(body)))
	for {
		content, message := s.receive()
		if text(message["id"]) != text(id) {
			s.keep(message)
			continue
		}
		response := s.responseOf(content)
		result := generic(s.T, response["result"])
		s.record(name, method, list(s.T, params, true), response)
		return result
	}
}

func (s *session) receive() ([]byte, object) {
	s.Helper()
	require.NoError(s, s.socket.SetReadDeadline(time.Now().Add(replyLimit)))
	_, content, err := s.socket.ReadMessage()
	require.NoError(s, err)
	var message object
	require.NoError(s, decodeExact(content, &message), "%s", content)
	return content, message
}

func (s *session) keep(message object) {
	s.Helper()
	params, is := message["params"].(object)
	require.True(s, is, "not a notification: %v", message)
	id := text(params["subscription"])
	s.pending[id] = append(s.pending[id], message)
}

// notification records the subscription's next notification.
func (s *session) notification(name, id string) {
	s.Helper()
	for len(s.pending[id]) == 0 {
		_, message := s.receive()
		s.keep(message)
	}
	message := s.pending[id][0].(object)
	s.pending[id] = s.pending[id][1:]
	method := message["method"].(string)
	delete(message, "method")
	s.record(name, method, nil, message)
}
