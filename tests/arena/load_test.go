package arena_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/internal/arena/arenatest"
	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/client"
)

const (
	// loadReport is the file for the figures of TestManyMarketsAtOnce, and loadMarkets the number of markets.
	loadReport  = "HAGGLE_ARENA_REPORT"
	loadMarkets = "HAGGLE_ARENA_MARKETS"
	// crowd is the number of agents in a market.
	crowd = 10
	// statements is the number of interests that each agent states, one in each pause.
	statements = 6
)

// delays lists the times from before a message is sent until another agent receives the event.
type delays struct {
	lock  sync.Mutex
	taken []time.Duration
}

func (d *delays) add(sent string) {
	nanoseconds, err := strconv.ParseInt(sent, 10, 64)
	if err != nil {
		return // another message
	}
	d.lock.Lock()
	defer d.lock.Unlock()
	d.taken = append(d.taken, time.Since(time.Unix(0, nanoseconds)))
}

// at returns a quantile in milliseconds.
func (d *delays) at(percent int) string {
	slices.Sort(d.taken)
	return fmt.Sprintf("%.2f", float64(report.Quantile(d.taken, percent).Microseconds())/1000)
}

func now() string { return strconv.FormatInt(time.Now().UnixNano(), 10) }

// speaker sends a text to the whole group, and receives the other speakers' texts.
type speaker struct {
	say  func(ctx context.Context, text string) error
	hear func(ctx context.Context) (text string, err error)
}

// measure lets all speakers talk, evenly over each pause, and returns the delays of all deliveries.
func measure(t *testing.T, groups [][]speaker, pause time.Duration) *delays {
	t.Helper()
	var heard delays
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	running, ctx := errgroup.WithContext(ctx)
	for g, group := range groups {
		for i, own := range group {
			running.Go(func() error {
				time.Sleep(pause * time.Duration(i*len(groups)+g) / time.Duration(len(groups)*len(group)))
				for range statements {
					if err := own.say(ctx, now()); err != nil {
						return fmt.Errorf("say: %w", err)
					}
					time.Sleep(pause)
				}
				return nil
			})
			running.Go(func() error {
				for range statements * (len(group) - 1) {
					text, err := own.hear(ctx)
					if err != nil {
						return fmt.Errorf("hear: %w", err)
					}
					heard.add(text)
				}
				return nil
			})
		}
	}
	require.NoError(t, running.Wait())
	require.Len(t, heard.taken, len(groups)*crowd*(crowd-1)*statements, "each message reached each other agent once")
	return &heard
}

// TestManyMarketsAtOnce measures how long a message takes to reach the other agents in a market, and compares
// this with a server that only passes frames on. "make arena-load" runs it with 1,000 agents in 100 markets.
func TestManyMarketsAtOnce(t *testing.T) {
	markets, pause := 4, 200*time.Millisecond
	if text := os.Getenv(loadMarkets); text != "" {
		var err error
		markets, err = strconv.Atoi(text)
		require.NoError(t, err)
		pause = 5 * time.Second
	}
	bare := measure(t, broadcasts(t, markets), pause)
	arenas := measure(t, arenaGroups(t, markets), pause)
	delays := report.NewTable("", "median ms", "p99 ms")
	delays.Row("the arena: verified, and on disk before each delivery", arenas.at(50), arenas.at(99))
	delays.Row("a relay without storage and signatures", bare.at(50), bare.at(99))
	t.Logf("%d agents in %d markets:\n%s", markets*crowd, markets, delays)
	if path := os.Getenv(loadReport); path != "" {
		require.NoError(t, os.WriteFile(path, []byte(fmt.Sprintf(`# The arena under load

Written by `+"`make arena-load`"+` (%s).

%d agents in %d markets: each states an interest every %s, %d times. The delay is the time from before the message is sent,
and in the arena signed, until another agent of the market has it, over WebSockets on one machine; %d deliveries each.
A market waits while others write to the one SQLite file, which is the tail.

%s`, report.Machine(), markets*crowd, markets, pause, statements, len(arenas.taken), delays)), 0o644))
	}
}

// arenaGroups joins agents to a server's markets.
func arenaGroups(t *testing.T, markets int) (groups [][]speaker) {
	url, opened := serve(t, nil)
	for m := range markets {
		id := fmt.Sprint("m", m)
		require.NoError(t, opened.Create(t.Context(), arenatest.Config(id, time.Now()), time.Now()))
	}
	for m := range markets {
		market := url + fmt.Sprint(m) // serve's own is "m"
		require.Eventually(t, func() bool {
			c, err := client.Dial(t.Context(), client.Config{URL: market})
			return err == nil && c.Close() == nil
		}, time.Minute, 100*time.Millisecond)
		var group []speaker
		for range crowd {
			_, key, err := ed25519.GenerateKey(nil)
			require.NoError(t, err)
			c := join(t, market, key, "agent")
			own := arena.AddressOf(key)
			group = append(group, speaker{
				say: func(ctx context.Context, text string) error {
					_, err := c.Do(ctx, arena.State{Interest: arena.Interest{Message: text}})
					return err
				},
				hear: func(ctx context.Context) (string, error) {
					for {
						event, err := c.Next(ctx)
						if err != nil {
							return "", err
						}
						if stated, is := event.Fact.(arena.Stated); is && stated.Agent != own {
							return stated.Interest.Message, nil
						}
					}
				},
			})
		}
		groups = append(groups, group)
	}
	return groups
}

// broadcasts connects groups to a server that passes each frame on to the rest of the group.
func broadcasts(t *testing.T, count int) (groups [][]speaker) {
	var lock sync.Mutex
	members := map[string][]*websocket.Conn{}
	upgrader := websocket.Upgrader{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		socket, err := upgrader.Upgrade(w, r, nil)
		if err != nil {
			return
		}
		defer socket.Close()
		lock.Lock()
		members[r.URL.Path] = append(members[r.URL.Path], socket)
		_ = socket.WriteMessage(websocket.TextMessage, []byte("here"))
		lock.Unlock()
		for {
			_, data, err := socket.ReadMessage()
			if err != nil {
				return
			}
			lock.Lock()
			for _, other := range members[r.URL.Path] {
				if other != socket {
					_ = other.WriteMessage(websocket.TextMessage, data)
				}
			}
			lock.Unlock()
		}
	}))
	t.Cleanup(server.Close)
	for g := range count {
		var group []speaker
		for range crowd {
			url := fmt.Sprintf("ws%s/%d", strings.TrimPrefix(server.URL, "http"), g)
			socket, _, err := websocket.DefaultDialer.DialContext(t.Context(), url, nil)
			require.NoError(t, err)
			t.Cleanup(func() { _ = socket.Close() })
			_, _, err = socket.ReadMessage() // it is a member
			require.NoError(t, err)
			group = append(group, speaker{
				say: func(_ context.Context, text string) error {
					return socket.WriteMessage(websocket.TextMessage, []byte(text))
				},
				hear: func(context.Context) (string, error) {
					_, data, err := socket.ReadMessage()
					return string(data), err
				},
			})
		}
		groups = append(groups, group)
	}
	return groups
}
