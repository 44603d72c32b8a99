package proxy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// node is a node whose responses a test sets, and which records the requests.
type node struct {
	*httptest.Server
	lock sync.Mutex
	// calls lists the methods, in order.
	calls []string
	slot  uint64
	// say contains the node's messages to a subscriber.
	say []string
}

func newNode(t *testing.T) *node {
	n := &node{slot: 100}
	n.Server = httptest.NewServer(n)
	t.Cleanup(n.Close)
	return n
}

func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if websocket.IsWebSocketUpgrade(r) {
		n.subscriber(w, r)
		return
	}
	var asked call
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	n.lock.Lock()
	n.calls = append(n.calls, asked.Method)
	slot := n.slot
	n.lock.Unlock()
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"context":{"slot":%d},"value":"as of %d"}}`, asked.ID, slot, slot)
}

// subscriber confirms a subscription and sends the messages.
func (n *node) subscriber(w http.ResponseWriter, r *http.Request) {
	conn, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	for {
		var asked call
		if conn.ReadJSON(&asked) != nil {
			return
		}
		n.lock.Lock()
		n.calls = append(n.calls, asked.Method)
		say := n.say
		n.lock.Unlock()
		_ = conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"result":7}`, asked.ID))
		for _, text := range say {
			_ = conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"logsNotification","params":%q}`, text))
		}
	}
}

func (n *node) has(t *testing.T, calls ...string) {
	t.Helper()
	n.lock.Lock()
	defer n.lock.Unlock()
	require.Equal(t, append([]string{}, calls...), append([]string{}, n.calls...))
}

func (n *node) advance(slots uint64) {
	n.lock.Lock()
	n.slot += slots
	n.lock.Unlock()
}

func start(t *testing.T, n *node, options Options) *Proxy {
	options.RPCURL, options.WSURL = n.URL, "ws"+n.URL[len("http"):]
	proxy, err := Start(options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	return proxy
}

// send sends a request to a proxy. The error is the connection's error.
func send(t *testing.T, proxy *Proxy, method, params string) (*http.Response, []byte, error) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":%q,"params":%s}`, method, params)
	answered, err := client.Post(proxy.URL(), "application/json", bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, nil, err
	}
	defer answered.Body.Close()
	content, err := io.ReadAll(answered.Body)
	return answered, content, err
}

// valueIn returns the value in the node's response.
func valueIn(t *testing.T, content []byte) (value string, slot uint64) {
	t.Helper()
	var answered struct {
		ID     string
		Result struct {
			Context struct{ Slot uint64 }
			Value   string
		}
	}
	require.NoError(t, json.Unmarshal(content, &answered))
	require.Equal(t, "x", answered.ID)
	return answered.Result.Value, answered.Result.Context.Slot
}
