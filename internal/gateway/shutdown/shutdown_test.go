package shutdown_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/gateway/shutdown"
)

func TestShutdownEndsTheContextsOfRequests(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan error, 1)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		ctx, cancel := shutdown.Context(r.Context())
		defer cancel()
		close(begun)
		<-ctx.Done()
		ended <- r.Context().Err()
	}))
	shutdown.Register(server.Config)
	server.Start()
	defer server.Close()
	response := make(chan error, 1)
	go func() {
		r, err := http.Get(server.URL)
		if err == nil {
			err = r.Body.Close()
		}
		response <- err
	}()
	<-begun
	limit, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(t, server.Config.Shutdown(limit))
	require.NoError(t, <-ended, "the request itself is not canceled")
	require.NoError(t, <-response)
}

func TestContextOfAnotherServerEndsWithItsParent(t *testing.T) {
	parent, end := context.WithCancel(t.Context())
	ctx, cancel := shutdown.Context(parent)
	defer cancel()
	require.NoError(t, ctx.Err())
	end()
	require.ErrorIs(t, ctx.Err(), context.Canceled)
}
