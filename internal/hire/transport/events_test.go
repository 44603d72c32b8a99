package transport_test

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/httpsig"
)

func TestStreamContinuesAfterTheLastEvent(t *testing.T) {
	server.OnBoth(t, func(t *testing.T, address string) {
		h := newHome(t, options{address: address})
		var sent []*hire.Message
		for range 4 {
			sent = append(sent, h.send(t, h.talk(), hire.RoleSeeker, hire.TypeProposal))
		}
		for name, c := range map[string]struct {
			query url.Values
			last  string
			first int64
		}{
			"from the beginning": {nil, "", 1},
			"after a number":     {url.Values{"after": {"2"}}, "", 3},
			"connected again":    {url.Values{"after": {"1"}}, "3", 4},
		} {
			s := h.open(t, h.worker, c.query, c.last)
			for want := c.first; want <= int64(len(sent)); want++ {
				number, m := s.next()
				require.Equal(t, want, number, name)
				require.Equal(t, sent[want-1].Hash(), m.Hash(), name)
			}
		}
		waiting := h.open(t, h.worker, nil, strconv.Itoa(len(sent)))
		more := h.send(t, h.talk(), hire.RoleSeeker, hire.TypeProposal)
		_, m := waiting.next()
		require.Equal(t, more.Hash(), m.Hash())
	})
}

func TestQuietStreamHasHeartbeats(t *testing.T) {
	h := newHome(t, options{heartbeat: time.Millisecond})
	s := h.open(t, h.worker, nil, "")
	for _, want := range []string{": stream", ": heartbeat", ": heartbeat"} {
		lines, err := s.block()
		require.NoError(t, err)
		require.Equal(t, []string{want}, lines)
	}
}

// The end of the server ends the streams, and waits for them.
func TestShutdownEndsStreams(t *testing.T) {
	h := newHome(t, options{})
	s := h.open(t, h.worker, nil, "")
	h.send(t, h.talk(), hire.RoleSeeker, hire.TypeProposal)
	s.next()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	require.NoError(t, h.server.Shutdown(ctx))
	_, err := s.block()
	require.ErrorContains(t, err, "EOF")
}

// A reader that takes nothing costs nobody else: others get their events, and senders their responses.
func TestSlowReaderDelaysNobody(t *testing.T) {
	h := newHome(t, options{})
	slow := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := new(net.Dialer).DialContext(ctx, network, address)
		if err == nil {
			err = connection.(*net.TCPConn).SetReadBuffer(4096)
		}
		return connection, err
	}}
	defer slow.CloseIdleConnections()
	reader := &http.Client{Transport: &httpsig.Transport{Key: h.worker.Key, Base: slow}}
	response, err := reader.Do(h.request(t, h.worker, http.MethodGet, hire.EventsPath, nil, nil))
	require.NoError(t, err)
	defer response.Body.Close() // it is never read
	fast := h.open(t, h.worker, nil, "")
	for i := range 60 { // exceeds the connection's buffers
		k := h.talk()
		m := hiretest.Sign(t, k.Seeker, hire.Draft{
			From: k.Seeker.ID, To: h.worker.ID, At: time.Now(), Conversation: k.Conversation,
			Payload: &hire.Inquiry{Need: hire.NewText(strings.Repeat("x", 20_000))},
		})
		h.post(t, m)
		number, got := fast.next()
		require.EqualValues(t, i+1, number)
		require.Equal(t, m.Hash(), got.Hash())
	}
}

func TestEventNumbersMustBeNumbers(t *testing.T) {
	h := newHome(t, options{})
	for _, after := range []string{"-1", "x", "1.5", "99999999999999999999"} {
		r := h.request(t, h.worker, http.MethodGet, hire.EventsPath, url.Values{"after": {after}}, nil)
		status, body, _ := h.do(t, h.worker.Key, r)
		require.Equal(t, http.StatusBadRequest, status)
		require.Contains(t, body, `"malformed"`)
	}
}
