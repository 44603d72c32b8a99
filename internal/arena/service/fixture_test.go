package service_test

import (
	"context"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/arena/arenatest"
	"github.com/haggle-protocol/haggle/internal/arena/service"
	"github.com/haggle-protocol/haggle/internal/arena/store"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

// server runs PostgreSQL for all tests.
var server *testpostgres.Server

func TestMain(m *testing.M) { os.Exit(testpostgres.Run(m, &server)) }

// lease is short, to let a test see the next process take over.
const lease = time.Second

// process is a running service.
type process struct {
	*service.Service
	stop func()
}

// start runs a holder's service until the test ends or stop is called.
func start(t *testing.T, opened *store.Store, holder string) *process {
	t.Helper()
	return startWithLease(t, opened, holder, lease)
}

func startWithLease(t *testing.T, opened *store.Store, holder string, lease time.Duration) *process {
	t.Helper()
	s, err := service.New(service.Config{Store: opened, Key: arenatest.Key(arenatest.Operator), Holder: holder, Lease: lease})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { assert.ErrorIs(t, s.Run(ctx), context.Canceled) })
	stop := sync.OnceFunc(func() { cancel(); running.Wait() })
	t.Cleanup(stop)
	return &process{s, stop}
}

func open(t *testing.T, address string) *store.Store {
	t.Helper()
	opened, err := store.Open(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, opened.Close()) })
	return opened
}

// create adds the market "m", with quick turns.
func create(t *testing.T, opened *store.Store) {
	t.Helper()
	now := time.Now()
	config := arenatest.Config("m", now)
	config.Pace = 10
	require.NoError(t, opened.Create(t.Context(), config, now))
}

// await waits until a service runs the market.
func (p *process) await(t *testing.T) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, err := p.Standing(t.Context(), "m", "")
		return err == nil
	}, 10*lease, 10*time.Millisecond)
}

// trader is an agent and the events received so far.
type trader struct {
	t        *testing.T
	seed     byte
	sequence uint64
	events   []arena.Shown
	stream   *service.Stream
	end      func()
}

func newTrader(t *testing.T, seed byte) *trader { return &trader{t: t, seed: seed, sequence: 1} }

// message signs the next action.
func (a *trader) message(action arena.Action) *arena.Message {
	a.t.Helper()
	m, err := arena.Sign(arenatest.Key(a.seed), arena.Draft{
		Market: "m", Sequence: a.sequence, Seen: uint64(len(a.events)), Expires: time.Now().Add(time.Minute), Action: action,
	})
	require.NoError(a.t, err)
	return m
}

// do sends an action that must be accepted, and checks the receipt.
func (a *trader) do(p *process, action arena.Action) {
	a.t.Helper()
	m := a.message(action)
	receipt, err := p.Accept(a.t.Context(), m)
	require.NoError(a.t, err)
	require.NoError(a.t, receipt.Verify(arenatest.ID(arenatest.Operator), m))
	a.sequence++
}

// follow opens a stream after the events that the agent has.
func (a *trader) follow(p *process) {
	a.t.Helper()
	var err error
	a.stream, a.end, err = p.Follow("m", arenatest.ID(a.seed), p.Arrive(), uint64(len(a.events)))
	require.NoError(a.t, err)
}

// awaitFact reads events until a fact fits, and returns that fact.
func awaitFact[T arena.Fact](a *trader, fits func(T) bool) T {
	a.t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case event := <-a.stream.Events():
			a.events = append(a.events, event)
			require.EqualValues(a.t, len(a.events), event.Number)
			if fact, is := event.Fact.(T); is && fits(fact) {
				return fact
			}
		case <-timeout:
			require.Fail(a.t, "no such event", "%T", *new(T))
		}
	}
}

// awaitTurn reads events until it is the agent's turn in a chat.
func (a *trader) awaitTurn(chat int) {
	a.t.Helper()
	awaitFact(a, func(turn arena.Turn) bool { return turn.Chat == chat && turn.Agent == arenatest.ID(a.seed) })
}
