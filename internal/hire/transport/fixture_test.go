package transport_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ed25519"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/internal/hire/transport"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

// server runs PostgreSQL for all tests.
var server *testpostgres.Server

func TestMain(m *testing.M) { os.Exit(testpostgres.Run(m, &server)) }

// taskSecret configures all homes.
var taskSecret = []byte("a secret of at least thirty-two bytes")

// home is a home that listens.
type home struct {
	*service.Service
	server *http.Server
	worker hiretest.Agent
	served chan error
	// now is the home's clock, used by send.
	now func() time.Time
}

// options change a test's home.
type options struct {
	address   string
	service   func(*service.Config)
	heartbeat time.Duration
}

func newHome(t testing.TB, o options) *home {
	t.Helper()
	if o.address == "" {
		o.address = t.TempDir() + "/home.db"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := &home{worker: hiretest.At("http://" + listener.Addr().String()), served: make(chan error, 1)}
	opened, err := store.Open(t.Context(), o.address)
	require.NoError(t, err)
	quiet := slog.New(slog.DiscardHandler)
	config := service.Config{
		Store: opened, ID: h.worker.ID, Key: h.worker.Public(), Client: &hire.Client{Local: true}, Log: quiet,
	}
	card := hire.Card{ID: h.worker.ID, Inbox: h.worker.ID + hire.InboxPath, Skills: []string{"logo"}}
	if o.service != nil {
		o.service(&config)
	}
	if config.Settlement != nil {
		card.Settlement = hire.Base58(hire.Address(config.Settlement.Key.Public().(ed25519.PublicKey)))
	}
	if h.now = config.Now; h.now == nil {
		h.now = time.Now
	}
	h.Service, err = service.New(config)
	require.NoError(t, err)
	signed, err := hire.SignCard(h.worker.Key, nil, card)
	require.NoError(t, err)
	h.server, err = transport.NewServer(transport.Config{
		Service: h.Service, Origin: h.worker.ID, Card: signed, TaskSecret: taskSecret, Heartbeat: o.heartbeat, Log: quiet,
	})
	require.NoError(t, err)
	go func() { h.served <- h.server.Serve(listener) }()
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- h.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-ran)
		assert.NoError(t, h.server.Close())
		assert.ErrorIs(t, <-h.served, http.ErrServerClosed)
		assert.NoError(t, opened.Close())
	})
	return h
}

// post sends a message to the inbox.
func (h *home) post(t testing.TB, m *hire.Message) {
	t.Helper()
	response, err := http.Post(h.worker.ID+hire.InboxPath, "application/json", bytes.NewReader(m.Text()))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusAccepted, response.StatusCode)
}

// send sends the conversation's next message.
func (h *home) send(t testing.TB, k *hiretest.Talk, role hire.Role, of hire.Type) *hire.Message {
	t.Helper()
	m := k.Message(t, role, of, h.now())
	h.post(t, m)
	k.Stored(m)
	return m
}

// agree brings a conversation to a deal accepted by both sides.
func (h *home) agree(t testing.TB, k *hiretest.Talk) {
	t.Helper()
	h.send(t, k, hire.RoleSeeker, hire.TypeProposal)
	h.send(t, k, hire.RoleWorker, hire.TypeCounter)
	h.send(t, k, hire.RoleSeeker, hire.TypeAccept)
	h.send(t, k, hire.RoleWorker, hire.TypeAccept)
}

func (h *home) talk() *hiretest.Talk { return hiretest.NewTalk(hiretest.NewAgent(), h.worker) }

// request returns a request for signing by an agent.
func (h *home) request(t testing.TB, agent hiretest.Agent, method, path string, query url.Values, body io.Reader) *http.Request {
	t.Helper()
	values := url.Values{"agent": {agent.ID}}
	for name, value := range query {
		values[name] = value
	}
	r, err := http.NewRequestWithContext(t.Context(), method, h.worker.ID+path+"?"+values.Encode(), body)
	require.NoError(t, err)
	return r
}

// do sends a request signed by key, and returns the response status and body.
func (h *home) do(t testing.TB, key ed25519.PrivateKey, r *http.Request) (int, string, http.Header) {
	t.Helper()
	client := &http.Client{Transport: &httpsig.Transport{Key: key}}
	response, err := client.Do(r)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body), response.Header
}

// stream is an event stream as received by the reader.
type stream struct {
	t     testing.TB
	body  io.ReadCloser
	lines *bufio.Reader
}

// open opens an agent's event stream.
func (h *home) open(t testing.TB, agent hiretest.Agent, query url.Values, lastEvent string) *stream {
	t.Helper()
	r := h.request(t, agent, http.MethodGet, hire.EventsPath, query, nil)
	if lastEvent != "" {
		r.Header.Set("Last-Event-ID", lastEvent)
	}
	client := &http.Client{Transport: &httpsig.Transport{Key: agent.Key}}
	response, err := client.Do(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, response.StatusCode)
	require.Equal(t, "text/event-stream", response.Header.Get("Content-Type"))
	t.Cleanup(func() { _ = response.Body.Close() })
	return &stream{t, response.Body, bufio.NewReader(response.Body)}
}

// block returns the lines up to an empty one; an error at the end of the stream.
func (s *stream) block() (lines []string, err error) {
	for {
		line, err := s.lines.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if line = strings.TrimSuffix(line, "\n"); line == "" {
			return lines, nil
		}
		lines = append(lines, line)
	}
}

// next returns the next event; comments are skipped.
func (s *stream) next() (number int64, m *hire.Message) {
	s.t.Helper()
	for {
		lines, err := s.block()
		require.NoError(s.t, err)
		if strings.HasPrefix(lines[0], ":") {
			continue
		}
		require.Len(s.t, lines, 3)
		require.Equal(s.t, "event: message", lines[1])
		number, err = strconv.ParseInt(strings.TrimPrefix(lines[0], "id: "), 10, 64)
		require.NoError(s.t, err)
		data := strings.TrimPrefix(lines[2], "data: ")
		m, err = hire.Parse([]byte(data))
		require.NoError(s.t, err)
		require.Equal(s.t, data, string(m.Text()), "the message is in canonical form")
		return number, m
	}
}
