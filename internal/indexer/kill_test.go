package indexer

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/stretchr/testify/require"

	haggle "github.com/haggle-protocol/haggle/sdk"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// child runs an indexer until it is killed, on the database and endpoint given by environment variables.
func child() int {
	endpoint, address, _ := strings.Cut(os.Getenv(childVariable), " ")
	client, err := haggle.NewClient(haggle.Config{Endpoint: endpoint})
	if err == nil {
		err = indexForever(client, address)
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

func indexForever(client *haggle.Client, address string) error {
	database, err := Open(context.Background(), address)
	if err != nil {
		return err
	}
	indexer, err := New(database, Config{RPC: client.RPC(), Poll: time.Millisecond})
	if err != nil {
		return err
	}
	return indexer.Run(context.Background())
}

// startChild starts an indexer in a separate process.
func startChild(t *testing.T, endpoint, address string) *exec.Cmd {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+endpoint+" "+address)
	command.Stderr = os.Stderr
	require.NoError(t, command.Start())
	return command
}

// kill ends a process with SIGKILL.
func kill(t *testing.T, command *exec.Cmd) {
	t.Helper()
	require.NoError(t, command.Process.Kill())
	var ended *exec.ExitError
	require.ErrorAs(t, command.Wait(), &ended)
	require.False(t, ended.Exited(), "the indexer ended by itself")
}

// killedIndex is a database with a repeatedly killed indexer.
type killedIndex struct {
	address string
	// timeLimit is how long an indexer runs before it is killed. It grows after a kill before the first
	// write.
	timeLimit time.Duration
	revision  int64
	// kills counts kills, and wrote counts kills after a write.
	kills, wrote int
}

func (v *killedIndex) runAndKill(t *testing.T, endpoint string) {
	t.Helper()
	command := startChild(t, endpoint, v.address)
	time.Sleep(v.timeLimit + rand.N(v.timeLimit))
	kill(t, command)
	v.kills++
	database, err := Open(t.Context(), v.address)
	require.NoError(t, err)
	defer database.Close()
	revision := single[int64](t, t.Context(), database, `SELECT COALESCE(MAX(revision), 0) FROM progress`)
	if revision == v.revision {
		v.timeLimit += v.timeLimit / 2
		return
	}
	v.revision, v.timeLimit = revision, max(v.timeLimit*2/3, 50*time.Millisecond)
	v.wrote++
}

// An indexer killed at any moment leaves the same database as an indexer never killed.
func TestAKilledIndexerLosesAndRepeatsNothing(t *testing.T) {
	s := newScenario(t)
	addresses := map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "killed.db"), "postgres": server.Create(t)}
	ended := make(chan struct{})
	killed := make(chan map[string]*killedIndex, 1)
	go func() {
		defer close(killed)
		indexes := map[string]*killedIndex{}
		for name, address := range addresses {
			indexes[name] = &killedIndex{address: address, timeLimit: 100 * time.Millisecond}
		}
		for {
			enough := true
			for _, index := range indexes {
				index.runAndKill(t, s.Chain.RPCURL())
				enough = enough && index.wrote >= 2
			}
			select {
			case <-ended:
				if enough {
					killed <- indexes
					return
				}
			default:
			}
		}
	}()
	s.all()
	s.twoLives(8)
	s.bargain(9)
	close(ended)
	indexes := <-killed
	require.Len(t, indexes, len(addresses))
	whole := newSQLite(t)
	runOnce(t, s.ctx, whole, s.Client.RPC(), rpc.CommitmentConfirmed)
	for name, index := range indexes {
		t.Logf("%s: killed %d times, %d of them after it had written", name, index.kills, index.wrote)
		database := openAt(t, index.address)
		runOnce(t, s.ctx, database, s.Client.RPC(), rpc.CommitmentConfirmed)
		require.Equal(t, contents(t, s.ctx, whole), contents(t, s.ctx, database), name)
	}
}

// longChain is a chain with many negotiations and a node with short pages.
func longChain(t require.TestingT, negotiations int) *scriptedChain {
	chain := newScriptedChain()
	chain.pageLimit = 7
	number, slot := uint64(0), uint64(100)
	for n := range uint64(negotiations) {
		scenario := newScriptedScenario(n, 1)
		for i, step := range scenario.steps() {
			number++
			item := newTransaction(t, number, nil, logsOf(step.events...))
			item.accounts = map[solana.PublicKey]*protocol.Negotiation{scenario.address: step.state}
			if i%3 == 0 {
				slot++
				failed := newTransaction(t, number+1_000_000, nil, nil)
				failed.failed = true
				chain.add(slot, 1, item, failed)
				continue
			}
			last := len(chain.slots) - 1
			chain.slots[last].transactions = append(chain.slots[last].transactions, item)
		}
	}
	chain.reach(slot+100, slot+90)
	return chain
}

// A backfill continues after each kill, and yields the same result.
func TestALongHistoryIsReadInPieces(t *testing.T) {
	chain := longChain(t, 60)
	whole := newSQLite(t)
	runOnce(t, t.Context(), whole, chain.client(), rpc.CommitmentConfirmed)
	require.Equal(t, 60, single[int](t, t.Context(), whole, `SELECT COUNT(*) FROM outcomes WHERE status = 'Settled' AND closed_at IS NOT NULL`))
	require.Zero(t, single[int](t, t.Context(), whole, `SELECT COUNT(*) FROM violations`))
	require.Equal(t, 60*6, single[int](t, t.Context(), whole, `SELECT COUNT(*) FROM transactions`))
	require.Zero(t, single[int](t, t.Context(), whole, `SELECT COUNT(*) FROM backlog`))
	require.Greater(t, single[int](t, t.Context(), whole, `SELECT revision FROM progress`), 60*6/7)

	chain.delay = 300 * time.Microsecond
	endpoint := chain.serve(t)
	for name, address := range map[string]string{"sqlite": "sqlite:" + filepath.Join(t.TempDir(), "killed.db"), "postgres": server.Create(t)} {
		t.Run(name, func(t *testing.T) {
			index := &killedIndex{address: address, timeLimit: 100 * time.Millisecond}
			inTheMiddle := 0
			for done := false; !done; {
				index.runAndKill(t, endpoint)
				database := openAt(t, address)
				left := single[int](t, t.Context(), database, `SELECT COUNT(*) FROM backlog`)
				done = left == 0 && single[int](t, t.Context(), database, `SELECT COUNT(*) FROM events`) > 0
				if left > 0 {
					inTheMiddle++
				}
			}
			require.Positive(t, inTheMiddle)
			database := openAt(t, address)
			runOnce(t, t.Context(), database, chain.client(), rpc.CommitmentConfirmed)
			require.Equal(t, contents(t, t.Context(), whole), contents(t, t.Context(), database))
		})
	}
}
