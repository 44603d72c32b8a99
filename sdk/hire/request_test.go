package hire

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// local returns a client for test servers.
func local(t *testing.T) *Client {
	c := &Client{Local: true}
	t.Cleanup(c.Close)
	return c
}

// endpoint serves a handler, returning the URL.
func endpoint(t *testing.T, handler http.HandlerFunc) string {
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}

func TestOverloadedInboxIsRepeated(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable} {
		var calls atomic.Int32
		url := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
			if calls.Add(1) == 1 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(status)
				return
			}
			w.WriteHeader(http.StatusAccepted)
		})
		require.NoError(t, local(t).Send(t.Context(), url, proposal(t)), status)
		require.EqualValues(t, 2, calls.Load(), status)
	}
}

func TestRetryAfterIsObserved(t *testing.T) {
	var calls atomic.Int32
	url := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
		calls.Add(1)
		w.Header().Set("Retry-After", "60")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	require.ErrorIs(t, local(t).Send(ctx, url, proposal(t)), context.DeadlineExceeded)
	require.EqualValues(t, 1, calls.Load())
}

func TestRedirectedMessageIsNotSentElsewhere(t *testing.T) {
	elsewhere := endpoint(t, func(http.ResponseWriter, *http.Request) { t.Error("followed") })
	url := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, elsewhere, http.StatusTemporaryRedirect)
	})
	require.ErrorIs(t, local(t).Send(t.Context(), url, proposal(t)), errRedirect)
}

func TestErrorAtTheEndOfTheContextHasTheStatus(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := endpoint(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		_ = http.NewResponseController(w).Flush()
		time.AfterFunc(100*time.Millisecond, cancel)
	})
	err := local(t).Send(ctx, url, proposal(t))
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "inbox of "+worker+": status 503")
}

func TestResponsesAreBounded(t *testing.T) {
	get := request{to: "test", method: http.MethodGet, status: http.StatusOK, accept: jsonType, limit: 10, time: time.Minute}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"longest": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			_, _ = io.WriteString(w, strings.Repeat("x", 10))
		}, ""},
		"too long": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", jsonType)
			_, _ = io.WriteString(w, strings.Repeat("x", 11))
		}, "longer than 10 bytes"},
		"another type": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }, "another type"},
		"header": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", maxHeader))
			w.Header().Set("Content-Type", jsonType)
		}, "server response headers exceeded"},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", jsonType)
			w.Header().Set("Content-Length", "5")
			_, _ = io.WriteString(w, "x")
		}, "unexpected EOF"},
	} {
		get.url = endpoint(t, c.handler)
		data, err := local(t).once(t.Context(), get)
		if c.want == "" {
			require.NoError(t, err, name)
			require.Len(t, data, 10)
			continue
		}
		require.ErrorContains(t, err, c.want, name)
	}
}

// The rest of the body does not arrive in time.
func TestSlowResponseEnds(t *testing.T) {
	done := make(chan struct{})
	url := endpoint(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", jsonType)
		_, _ = io.WriteString(w, "x")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(done)
	})
	_, err := local(t).once(t.Context(), request{
		to: "test", method: http.MethodGet, url: url, status: http.StatusOK, accept: jsonType, limit: 10,
		time: 200 * time.Millisecond,
	})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.ErrorAs(t, err, new(*transient))
	<-done
}
