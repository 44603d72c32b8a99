package queue_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/internal/lab/simulation/queue"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
	"github.com/haggle-protocol/haggle/sdk/bargain"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/bargain/tournament"
)

// stuckDatabase is the variable naming the database for the process that never finishes a job.
const stuckDatabase = "HAGGLE_STUCK_DATABASE"

var server *testpostgres.Server

func TestMain(m *testing.M) {
	if address := os.Getenv(stuckDatabase); address != "" {
		fmt.Println(playStuck(address))
		os.Exit(1)
	}
	os.Exit(testpostgres.Run(m, &server))
}

func plan(linear bargain.Strategy) *tournament.Plan {
	return &tournament.Plan{
		Entrants: []tournament.Entrant{
			{Name: "linear", Strategy: linear}, {Name: "micro", Strategy: strategy.MiCRO()},
			{Name: "random", Strategy: strategy.Random()},
		},
		Scenarios: tournament.Join{tournament.Random{Seed: 2, Count: 20}, tournament.Haggle{Seed: 2, Count: 5}},
		Seed:      9, Steps: 20,
	}
}

// stuck is a strategy that reports the first session and never plays it.
type stuck struct{}

func (stuck) Start(bargain.Seat) bargain.Negotiator {
	fmt.Println("playing")
	select {}
}

func playStuck(address string) error {
	pool, err := pgxpool.New(context.Background(), address)
	if err != nil {
		return err
	}
	return queue.Config{Pool: pool, ID: "test", Workers: 2}.Play(context.Background(), plan(stuck{}), 0,
		func(*tournament.Block) error { return nil })
}

func database(t *testing.T) (*pgxpool.Pool, string) {
	t.Helper()
	address := server.Create(t)
	pool, err := pgxpool.New(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool, address
}

// collector writes blocks as JSON.
func collector(out *bytes.Buffer) func(*tournament.Block) error {
	encoder := json.NewEncoder(out)
	return func(block *tournament.Block) error { return encoder.Encode(block) }
}

func alone(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, plan(strategy.Linear()).Run(t.Context(), 1, 0, collector(&out)))
	return out.String()
}

func TestSeveralProcessesHaveTheResultOfOneMachine(t *testing.T) {
	pool, _ := database(t)
	var results [3]bytes.Buffer
	var progress [4]counts
	group, ctx := errgroup.WithContext(t.Context())
	for i := range results {
		group.Go(func() error {
			config := queue.Config{Pool: pool, ID: "test", Workers: i + 1, Progress: progress[i].add}
			return config.Play(ctx, plan(strategy.Linear()), 0, collector(&results[i]))
		})
	}
	require.NoError(t, group.Wait())
	want := alone(t)
	for i := range results {
		require.True(t, want == results[i].String(), "process %d", i)
	}
	// Later processes read the results.
	var again bytes.Buffer
	config := queue.Config{Pool: pool, ID: "test", Progress: progress[3].add}
	require.NoError(t, config.Play(t.Context(), plan(strategy.Linear()), 70, collector(&again)))
	require.Equal(t, 5, bytes.Count(again.Bytes(), []byte("\n")))
	// The progress counts the sessions of all processes, not only sessions played or read by this process.
	require.Equal(t, counts{{150, 150}}, progress[3])
	for i := range results {
		require.NotEmpty(t, progress[i])
	}
	require.True(t, bytes.HasSuffix([]byte(want), again.Bytes()))
}

// counts holds the progress reports.
type counts [][2]int

func (c *counts) add(sessions, of int) { *c = append(*c, [2]int{sessions, of}) }

// TestJobsOfAKilledProcessArePlayedAgain kills a process while it plays two jobs.
func TestJobsOfAKilledProcessArePlayedAgain(t *testing.T) {
	pool, address := database(t)
	process := exec.CommandContext(t.Context(), os.Args[0])
	process.Env = append(os.Environ(), stuckDatabase+"="+address)
	out, err := process.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, process.Start())
	lines := bufio.NewScanner(out)
	for range 2 {
		require.True(t, lines.Scan())
		require.Equal(t, "playing", lines.Text())
	}
	require.NoError(t, process.Process.Kill())
	require.Error(t, process.Wait())

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var result bytes.Buffer
	config := queue.Config{Pool: pool, ID: "test", RescueAfter: time.Second}
	require.NoError(t, config.Play(ctx, plan(strategy.Linear()), 0, collector(&result)))
	require.True(t, alone(t) == result.String())
}

// invalid is a strategy that makes a move that the protocol does not allow.
type invalid struct{}

func (invalid) Start(bargain.Seat) bargain.Negotiator { return invalid{} }

func (invalid) Respond(*bargain.State) bargain.Action { return bargain.Accept("there is no offer") }

func TestAnErrorOfASessionEndsTheTournament(t *testing.T) {
	pool, _ := database(t)
	config := queue.Config{Pool: pool, ID: "test"}
	err := config.Play(t.Context(), plan(invalid{}), 0, func(*tournament.Block) error { return nil })
	require.ErrorContains(t, err, "there is no offer of another party to accept")
}

func TestAStoppedProcessContinues(t *testing.T) {
	pool, _ := database(t)
	config := queue.Config{Pool: pool, ID: "test", Workers: 1}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var result bytes.Buffer
	collect, count := collector(&result), 0
	err := config.Play(ctx, plan(strategy.Linear()), 0, func(block *tournament.Block) error {
		if count++; count == 5 {
			cancel()
		}
		return collect(block)
	})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, config.Play(t.Context(), plan(strategy.Linear()), count, collect))
	require.True(t, alone(t) == result.String())
}
