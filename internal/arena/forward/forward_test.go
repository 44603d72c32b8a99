package forward_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/arena/arenatest"
	"github.com/haggle-protocol/haggle/internal/arena/forward"
	"github.com/haggle-protocol/haggle/internal/arena/pages"
	"github.com/haggle-protocol/haggle/internal/arena/service"
	"github.com/haggle-protocol/haggle/internal/arena/store"
	"github.com/haggle-protocol/haggle/internal/arena/transport"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/client"
)

// process is one of several servers with the same database.
type process struct {
	*service.Service
	address string
	// end ends the process, as Ctrl-C does.
	end func()
}

// start starts a process that forwards the given number of concurrent requests; 0 for the default.
func start(t *testing.T, database string, requests int) *process {
	t.Helper()
	opened, err := store.Open(t.Context(), database)
	require.NoError(t, err)
	listening, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := "http://" + listening.Addr().String()
	holder, quiet := forward.NewHolder(address), slog.New(slog.DiscardHandler)
	s, err := service.New(service.Config{Store: opened, Key: arenatest.Key(arenatest.Operator), Holder: holder, Lease: time.Second})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	mux := http.NewServeMux()
	transport.New(transport.Config{Service: s, Log: quiet}).Register(mux)
	pages.New(ctx, pages.Config{Store: opened, Service: s, Log: quiet}).Register(mux)
	server := &httptest.Server{
		Listener: listening,
		Config: &http.Server{
			Handler: forward.Handler(ctx, forward.Config{Store: opened, Service: s, Holder: holder, Requests: requests, Log: quiet}, mux),
		},
	}
	server.Start()
	var running sync.WaitGroup
	running.Go(func() { assert.ErrorIs(t, s.Run(ctx), context.Canceled) })
	end := sync.OnceFunc(func() {
		cancel()
		running.Wait()
		ended, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		assert.NoError(t, server.Config.Shutdown(ended))
		assert.NoError(t, opened.Close())
	})
	t.Cleanup(end)
	return &process{s, address, end}
}

// startHolder starts a process that runs the market "m" in a new database.
func startHolder(t *testing.T) (database string, holder *process) {
	t.Helper()
	database = filepath.Join(t.TempDir(), "arena.db")
	holder = start(t, database, 0)
	created, err := store.Open(t.Context(), database)
	require.NoError(t, err)
	require.NoError(t, created.Create(t.Context(), arenatest.Config("m", time.Now()), time.Now()))
	require.NoError(t, created.Close())
	require.Eventually(t, func() bool { return holder.Runs("m") }, 10*time.Second, 10*time.Millisecond)
	return database, holder
}

func (p *process) dial(t *testing.T) (*client.Client, error) {
	t.Helper()
	return client.Dial(t.Context(), client.Config{
		URL: "ws" + strings.TrimPrefix(p.address, "http") + "/arena/m", Key: arenatest.Key(1), Operator: arenatest.ID(arenatest.Operator),
	})
}

// Rule 53, with a client that knows one process alone.
func TestRequestsAreForwardedToTheHolder(t *testing.T) {
	database, first := startHolder(t)
	second := start(t, database, 0)
	require.False(t, second.Runs("m"))

	c, err := second.dial(t)
	require.NoError(t, err)
	_, err = c.Do(t.Context(), arena.Join{Name: "ada"})
	require.NoError(t, err)
	response, err := http.Get(second.address + "/markets/m")
	require.NoError(t, err)
	page, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Contains(t, string(page), "ada")
	require.NotContains(t, string(page), "This is not live")

	// A page that follows the market keeps neither process from ending.
	following, err := http.Get(second.address + "/markets/m/events")
	require.NoError(t, err)
	defer following.Body.Close()
	first.end()
	require.Eventually(t, func() bool { return second.Runs("m") }, 10*time.Second, 10*time.Millisecond)
	_ = c.Close()
	c, err = second.dial(t)
	require.NoError(t, err)
	defer c.Close()
	_, err = c.Do(t.Context(), arena.Split{Sets: 5})
	require.NoError(t, err)
}

// A client disconnected by the market's process, and still keeping the connection open, blocks nothing in the
// forwarding process.
func TestSilentClientsAreDisconnected(t *testing.T) {
	database, _ := startHolder(t)
	second := start(t, database, 1)
	conn, err := net.Dial("tcp", strings.TrimPrefix(second.address, "http://"))
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprint(conn, "GET /arena/m HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n")
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Second))) // above the time to enter
	_, err = conn.Read(make([]byte, 1))
	require.NoError(t, err)
	busy, err := http.Get(second.address + "/markets/m")
	require.NoError(t, err)
	require.NoError(t, busy.Body.Close())
	require.Equal(t, http.StatusServiceUnavailable, busy.StatusCode)
	_, err = io.Copy(io.Discard, conn)
	require.NoError(t, err, "the end of the connection")
	require.Eventually(t, func() bool {
		free, err := http.Get(second.address + "/markets/m")
		require.NoError(t, err)
		return free.Body.Close() == nil && free.StatusCode == http.StatusOK
	}, 5*time.Second, 10*time.Millisecond, "its place is not free")
}

func TestOtherRequestsAreHandledHere(t *testing.T) {
	p := start(t, filepath.Join(t.TempDir(), "arena.db"), 0)
	for path, status := range map[string]int{
		"/arena/none": http.StatusNotFound, "/markets/none": http.StatusNotFound, "/markets": http.StatusOK, "//arena/m": http.StatusNotFound,
		"/arena/": http.StatusNotFound, "/none/m": http.StatusNotFound,
	} {
		response, err := http.Get(p.address + path)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, status, response.StatusCode, path)
	}
}
