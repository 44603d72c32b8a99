package transport_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/arena/arenatest"
	"github.com/haggle-protocol/haggle/internal/arena/service"
	"github.com/haggle-protocol/haggle/internal/arena/store"
	"github.com/haggle-protocol/haggle/internal/arena/transport"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
	"github.com/haggle-protocol/haggle/sdk/arena"
	"github.com/haggle-protocol/haggle/sdk/arena/client"
)

// victimVariable is the environment variable with the database URL for the process to be killed.
const victimVariable = "HAGGLE_TEST_ARENA"

// server runs PostgreSQL for all tests.
var server *testpostgres.Server

func TestMain(m *testing.M) {
	if address := os.Getenv(victimVariable); address != "" {
		fmt.Fprintln(os.Stderr, serveUntilKilled(address))
		os.Exit(1)
	}
	os.Exit(testpostgres.Run(m, &server))
}

// serveUntilKilled runs an arena, and prints its port.
func serveUntilKilled(address string) error {
	ctx := context.Background()
	opened, err := store.Open(ctx, address)
	if err != nil {
		return err
	}
	s, err := service.New(service.Config{
		Store: opened, Key: arenatest.Key(arenatest.Operator), Holder: "process " + strconv.Itoa(os.Getpid()), Lease: 300 * time.Millisecond,
	})
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	transport.New(transport.Config{Service: s, Log: slog.New(slog.DiscardHandler)}).Register(mux)
	fmt.Println(listener.Addr())
	go func() { _ = http.Serve(listener, mux) }()
	return s.Run(ctx)
}

// splitter is an agent that buys complete sets, one at a time, and counts them.
type splitter struct {
	seed     byte
	bought   uint64
	receipts []arena.Receipt
	unknown  int
	// accepted counts the receipts of all agents.
	accepted *atomic.Int64
}

// run buys sets through a connection until the connection ends.
func (s *splitter) run(ctx context.Context, url string) error {
	c, err := client.Dial(ctx, client.Config{URL: url, Key: arenatest.Key(s.seed), Operator: arenatest.ID(arenatest.Operator)})
	if err != nil {
		return err
	}
	defer c.Close()
	// Sequence numbers count the joining and the sets: if the reply to a message was lost, the message counts
	// or not.
	next := c.Standing().Next
	if next > 1 {
		s.bought = next - 2
	}
	for {
		var action arena.Action = arena.Split{Sets: 1}
		if next == 1 {
			action = arena.Join{Name: "splitter"}
		}
		receipt, err := c.Do(ctx, action)
		if errors.Is(err, client.ErrUnknown) {
			s.unknown++
		}
		if err != nil {
			return err
		}
		if next++; next > 2 {
			s.bought++
		}
		s.receipts = append(s.receipts, receipt)
		s.accepted.Add(1)
	}
}

// Rules 47 and 53.
func TestKilledProcessesLoseAndRepeatNothing(t *testing.T) {
	server.OnBoth(t, func(t *testing.T, address string) {
		opened, err := store.Open(t.Context(), address)
		require.NoError(t, err)
		defer opened.Close()
		now := time.Now()
		config := arenatest.Config("m", now)
		config.Pace, config.Grant = 10, 1_000_000*arena.SetPrice
		require.NoError(t, opened.Create(t.Context(), config, now))
		var accepted atomic.Int64
		agents := []*splitter{{seed: 1, accepted: &accepted}, {seed: 2, accepted: &accepted}, {seed: 3, accepted: &accepted}}
		for range 6 {
			// Each process takes over from the previous process.
			ctx, cancel := context.WithCancel(t.Context())
			victim := exec.CommandContext(ctx, os.Args[0])
			victim.Env = append(os.Environ(), victimVariable+"="+address)
			victim.Stderr = os.Stderr
			output, err := victim.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, victim.Start())
			line, err := bufio.NewReader(output).ReadString('\n')
			require.NoError(t, err)
			url := "ws://" + strings.TrimSpace(line) + "/arena/m"
			var running sync.WaitGroup
			for _, agent := range agents {
				running.Go(func() {
					for ctx.Err() == nil {
						_ = agent.run(ctx, url) // until the process holds the market, and again if it loses it
						time.Sleep(10 * time.Millisecond)
					}
				})
			}
			// It works at first, however busy the machine is, and then ends at a random moment.
			before := accepted.Load()
			require.Eventually(t, func() bool { return accepted.Load() >= before+10 }, 5*time.Minute, 5*time.Millisecond)
			time.Sleep(time.Duration(rand.N(400)) * time.Millisecond)
			require.NoError(t, victim.Process.Kill())
			_ = victim.Wait()
			cancel()
			running.Wait()
		}

		log, err := opened.Load(t.Context(), "m", nil)
		require.NoError(t, err)
		unknown, total := 0, 0
		for _, agent := range agents {
			id := arenatest.ID(agent.seed)
			review, joined := log.Book.Market().Review(id)
			require.True(t, joined)
			next := log.Book.Next(id)
			require.EqualValues(t, next-2, review.Holding.Yes, "each message counts once")
			require.GreaterOrEqual(t, next-2, agent.bought, "none with a receipt is lost")
			require.LessOrEqual(t, next-2, agent.bought+1, "only the latest one can be without an answer")
			unknown, total = unknown+agent.unknown, total+len(agent.receipts)
		}
		t.Logf("%d messages with a receipt, %d answers lost", total, unknown)
	})
}
