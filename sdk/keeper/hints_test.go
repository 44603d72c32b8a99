package keeper_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/keeper"
)

// counted counts requests by their methods, and fails while failing.
type counted struct {
	lock    sync.Mutex
	calls   map[string]int
	failing atomic.Bool
}

func (c *counted) RoundTrip(request *http.Request) (*http.Response, error) {
	body, err := request.GetBody()
	if err != nil {
		return nil, err
	}
	var asked struct{ Method string }
	if err := json.NewDecoder(body).Decode(&asked); err != nil {
		return nil, err
	}
	c.lock.Lock()
	c.calls[asked.Method]++
	c.lock.Unlock()
	if c.failing.Load() {
		return nil, errors.New("unplugged")
	}
	return http.DefaultTransport.RoundTrip(request)
}

func (c *counted) of(method string) int {
	c.lock.Lock()
	defer c.lock.Unlock()
	return c.calls[method]
}

// count makes the fixture's client count requests.
func (s *fixture) count() *counted {
	s.t.Helper()
	s.t.Cleanup(http.DefaultTransport.(*http.Transport).CloseIdleConnections)
	requests := &counted{calls: make(map[string]int)}
	var err error
	s.Client, err = haggle.NewClient(haggle.Config{
		Endpoint: s.Chain.RPCURL(), WSEndpoint: s.Chain.WSURL(), HTTPClient: &http.Client{Transport: requests},
	})
	require.NoError(s.t, err)
	s.t.Cleanup(func() { require.NoError(s.t, s.Client.Close()) })
	return requests
}

// Hints inform the keeper between scans: it expires and closes a negotiation created since the last scan, and
// closes another negotiation ended by the parties.
func TestKeeperActsOnHintsBetweenScans(t *testing.T) {
	s := setStage(t)
	requests := s.count()
	w := s.keeper(keeper.Config{ScanEvery: time.Hour, Grace: -1, Jitter: -1})
	ctx, stop := context.WithCancel(s.ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	s.until("it listens", w.Listens)

	settled, silent := s.agreed(), s.offered()
	soon := time.Now().Add(30 * time.Second)
	s.until("the deal is closed", func() bool { return s.state(settled) == nil || time.Now().After(soon) })
	require.Nil(t, s.state(settled))
	s.advance(61 * time.Second)
	soon = time.Now().Add(40 * time.Second)
	s.until("the negotiation without an answer is expired and closed", func() bool { return s.state(silent) == nil || time.Now().After(soon) })
	require.Nil(t, s.state(silent))
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Len(t, w.reported(keeper.Done), 3)
	require.Equal(t, 3, w.all())
	require.LessOrEqual(t, requests.of("getProgramAccounts"), 2, "one scan at the start, and one if hints arrive later")
}

// A scan for lost hints that fails is repeated long before the next regular one.
func TestFailedScanIsRepeated(t *testing.T) {
	s := setStage(t)
	requests := s.count()
	failed := make(chan struct{}, 1)
	logger := slog.New(slog.NewTextHandler(writer(func(line string) {
		if strings.Contains(line, "scanning negotiations failed") {
			requests.failing.Store(false)
			failed <- struct{}{}
		}
	}), nil))
	w := s.keeper(keeper.Config{ScanEvery: time.Hour, Grace: -1, Jitter: -1, Logger: logger})
	ctx, stop := context.WithCancel(s.ctx)
	ended := make(chan error, 1)
	go func() { ended <- w.Run(ctx) }()
	s.until("it listens", w.Listens)
	requests.failing.Store(true)
	w.RequestScan()
	<-failed
	scans := requests.of("getProgramAccounts")
	s.until("it scans again", func() bool { return requests.of("getProgramAccounts") > scans })
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// writer is a function as an io.Writer.
type writer func(string)

func (w writer) Write(line []byte) (int, error) { w(string(line)); return len(line), nil }

// noEvents is a source of events that fails.
type noEvents struct{}

func (noEvents) Open(context.Context, events.Options) (events.Stream, error) {
	return nil, errors.New("no events here")
}

func TestKeeperWithoutEventsScans(t *testing.T) {
	s := setStage(t)
	client, err := haggle.NewClient(haggle.Config{Endpoint: s.Chain.RPCURL(), Source: noEvents{}})
	require.NoError(t, err)
	defer func() { require.NoError(t, client.Close()) }()
	key := s.wallet()
	k, err := keeper.New(client, key, keeper.Config{ScanEvery: 300 * time.Millisecond, Grace: -1, Jitter: -1})
	require.NoError(t, err)
	ctx, stop := context.WithCancel(s.ctx)
	ended := make(chan error, 1)
	go func() { ended <- k.Run(ctx) }()
	settled := s.agreed()
	s.until("it is closed", func() bool { return s.state(settled) == nil })
	stop()
	require.ErrorIs(t, <-ended, context.Canceled)
}
