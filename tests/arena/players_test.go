// Package arena_test runs players against a real server.
package arena_test

import (
	"context"
	"crypto/ed25519"
	"log/slog"
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
	"github.com/haggle-protocol/haggle/internal/arena/pages"
	"github.com/haggle-protocol/haggle/internal/arena/service"
	"github.com/haggle-protocol/haggle/internal/arena/store"
	"github.com/haggle-protocol/haggle/internal/arena/transport"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/client"
	"github.com/haggle-protocol/haggle/sdk/arena/player"
	"github.com/haggle-protocol/haggle/sdk/arena/trader"
)

// serve runs an arena with the fast market "m", and returns the WebSocket URL.
func serve(t *testing.T, change func(*arena.Config)) (url string, opened *store.Store) {
	t.Helper()
	opened, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "arena.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, opened.Close()) })
	config := arenatest.Config("m", time.Now())
	config.Pace = 10
	if change != nil {
		change(&config)
	}
	require.NoError(t, opened.Create(t.Context(), config, time.Now()))
	s, err := service.New(service.Config{Store: opened, Key: arenatest.Key(arenatest.Operator), Holder: t.Name()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { assert.ErrorIs(t, s.Run(ctx), context.Canceled) })
	t.Cleanup(func() { cancel(); running.Wait() })
	mux := http.NewServeMux()
	transport.New(transport.Config{Service: s, Log: slog.New(slog.DiscardHandler)}).Register(mux)
	pages.New(ctx, pages.Config{Store: opened, Service: s, Log: slog.New(slog.DiscardHandler)}).Register(mux)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	require.Eventually(t, func() bool {
		_, err := s.Standing(t.Context(), "m", "")
		return err == nil
	}, 10*time.Second, 10*time.Millisecond)
	return "ws" + strings.TrimPrefix(server.URL, "http") + "/arena/m", opened
}

// config returns the configuration of a trader whose key comes from a seed, with no decisions or limits.
func config(url string, seed byte, name string) trader.Config {
	return trader.Config{
		URL: url, Operator: arenatest.ID(arenatest.Operator), Key: arenatest.Key(seed), Name: name,
		Every: 50 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
	}
}

// run runs a trader until the test ends, or until stop is called.
func run(t *testing.T, config trader.Config) (stop func() error) {
	t.Helper()
	tr, err := trader.New(config)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- tr.Run(ctx) }()
	stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = stop() })
	return stop
}

// watch returns a market's public facts as received by spectators.
func watch(t *testing.T, url string) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), client.Config{URL: url})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// join connects an agent and joins the market.
func join(t *testing.T, url string, key ed25519.PrivateKey, name string) *client.Client {
	t.Helper()
	c, err := client.Dial(t.Context(), client.Config{URL: url, Key: key, Operator: arenatest.ID(arenatest.Operator)})
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	_, err = c.Do(t.Context(), arena.Join{Name: name})
	require.NoError(t, err)
	return c
}

// patience limits every wait in these tests, so that a failure names the waiting test.
const patience = 3 * time.Minute

// await returns the next fact of type T accepted by a condition.
func await[T arena.Fact](t *testing.T, c *client.Client, is func(T) bool) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		event, err := c.Next(ctx)
		require.NoError(t, err)
		if fact, of := event.Fact.(T); of && (is == nil || is(fact)) {
			return fact
		}
	}
}

// receive returns the next value from a channel.
func receive[T any](t *testing.T, values <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-values:
	case <-time.After(patience):
		require.Fail(t, "nothing came")
	}
	return value
}

func TestEightPersonalitiesTradeAndKeepTheirMoney(t *testing.T) {
	url, opened := serve(t, nil)
	spectator := watch(t, url)
	for i, personality := range player.Personalities() {
		p, err := player.New(personality, player.Options{
			Estimate: arena.Price(40 + 3*i), Risk: 60 * arena.SetPrice, Seed: uint64(i),
		})
		require.NoError(t, err)
		run(t, p.Trader(config(url, byte(i+1), personality.Name), 100*arena.SetPrice))
	}
	for range 10 {
		traded := await[arena.Traded](t, spectator, nil)
		require.NotEqual(t, traded.Legs[0].Buyer, traded.Legs[0].Seller)
	}
	// Whatever happens, each player keeps the money that is not at risk.
	log, err := opened.Load(t.Context(), "m", nil)
	require.NoError(t, err)
	for i := range player.Personalities() {
		review, joined := log.Book.Market().Review(arenatest.ID(byte(i + 1)))
		require.True(t, joined)
		require.GreaterOrEqual(t, review.Holding.Money, 40*arena.SetPrice)
	}
	for _, agent := range log.Book.Market().View().Agents {
		require.Zero(t, agent.Record.Failed, "%s agreed to more than it has", agent.Name)
		require.Zero(t, agent.Record.Silent, agent.Name)
	}
}
