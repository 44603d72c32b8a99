package jsonrpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
)

// replyLimit is the longest time until a response or a notification. A validator finalizes a block after 13 s.
const replyLimit = 60 * time.Second

type object = map[string]any

// named is a parameter that differs from run to run. The recording contains the name.
type named struct {
	name  string
	value any
}

// session sends the scenario's requests to a chain and keeps the exchanges.
type session struct {
	*testing.T
	url    string
	socket *websocket.Conn
	// names maps response texts to names: signatures, blockhashes, transactions.
	names map[string]string
	// transactions lists the transaction names.
	transactions []string
	groups       []group
	// pending holds each subscription's notifications not yet taken by the scenario.
	pending map[string][]any
	nextID  int
}

func newSession(t *testing.T, rpcURL, wsURL string) *session {
	t.Helper()
	socket, _, err := websocket.DefaultDialer.DialContext(t.Context(), wsURL, nil)
	require.NoError(t, err)
	t.Cleanup(func() { _ = socket.Close() })
	return &session{T: t, url: rpcURL, socket: socket, names: map[string]string{}, pending: map[string][]any{}}
}

// begin starts a group of exchanges: a file of the recording.
func (s *session) begin(name string) { s.groups = append(s.groups, group{name: name}) }

func (s *session) record(name, method string, params, response any) {
	s.Helper()
	last := &s.groups[len(s.groups)-1]
	for _, each := range last.exchanges {
		require.NotEqual(s, each.Name, name, "two steps have the same name")
	}
	last.exchanges = append(last.exchanges, exchange{name, method, params, s.normalizeResponse(method, response)})
}

func (s *session) normalizeResponse(method string, response any) any {
	fields, is := response.(object)
	if !is {
		return response
	}
	for key, field := range fields {
		fields[key] = s.normalize(method, key, field)
	}
	return fields
}

// call sends a request by HTTP, records it with the response, and returns the result.
func (s *session) call(name, method string, params ...any) any {
	s.Helper()
	response := s.exchange(method, params)
	result := generic(s.T, response["result"])
	s.record(name, method, list(s.T, params, true), response)
	return result
}

// query sends an unrecorded request. It must succeed.
func (s *session) query(method string, params ...any) any {
	s.Helper()
	response := s.exchange(method, params)
	require.NotContains(s, response, "error", method)
	return response["result"]
}

// exchange returns the response's result or error.
func (s *session) exchange(method string, params []any) object {
	s.Helper()
	body, _ := s.body(method, params)
	_, content := s.post(http.MethodPost, "/", body)
	return s.responseOf(content)
}

func (s *session) body(method string, params []any) (string, int) {
	s.nextID++
	request := object{"jsonrpc": "2.0", "id": s.nextID, "method": method}
	if params != nil {
		request["params"] = list(s.T, params, false)
	}
	return text(request), s.nextID
}

// responseOf checks the response envelope, and returns the result or error.
func (s *session) responseOf(content []byte) object {
	s.Helper()
	var response object
	require.NoError(s, decodeExact(content, &response), "%s", content)
	require.Equal(s, "2.0", response["jsonrpc"])
	require.EqualValues(s, text(s.nextID), text(response["id"]), "%s", content)
	delete(response, "jsonrpc")
	delete(response, "id")
	require.Len(s, response, 1, "%s", content)
	return response
}

func (s *session) post(httpMethod, path, body string) (*http.Response, []byte) {
	s.Helper()
	ctx, cancel := context.WithTimeout(s.Context(), replyLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, httpMethod, s.url+path, strings.NewReader(body))
	require.NoError(s, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(s, err)
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	require.NoError(s, err)
	return response, content
}

// raw sends a body as it is, and records the whole response.
func (s *session) raw(name, httpMethod, path, body string) {
	s.Helper()
	response, content := s.post(httpMethod, path, body)
	kind, _, _ := strings.Cut(response.Header.Get("Content-Type"), ";")
	whole := object{"status": json.Number(text(response.StatusCode)), "type": kind}
	var decoded any
	if content = bytes.TrimSpace(content); decodeExact(content, &decoded) == nil {
		whole["body"] = decoded
	} else {
		whole["body"] = string(content)
	}
	var params any
	if body != "" {
		params = body
	}
	s.record(name, httpMethod+" "+path, params, whole)
}

// list returns parameters in their sent or recorded form.
func list(t *testing.T, params []any, recorded bool) any {
	if params == nil {
		return nil
	}
	var replace func(any) any
	replace = func(value any) any {
		switch typed := value.(type) {
		case named:
			if recorded {
				return typed.name
			}
			return typed.value
		case []any:
			items := make([]any, len(typed))
			for i := range typed {
				items[i] = replace(typed[i])
			}
			return items
		case object:
			fields := object{}
			for key := range typed {
				fields[key] = replace(typed[key])
			}
			return fields
		}
		return value
	}
	return generic(t, replace(params))
}
