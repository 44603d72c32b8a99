package service_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// server runs PostgreSQL for all tests.
var server *testpostgres.Server

func TestMain(m *testing.M) {
	if os.Getenv(victimVariable) != "" {
		fmt.Fprintln(os.Stderr, receiveUntilKilled(os.Getenv(victimVariable)))
		os.Exit(1)
	}
	os.Exit(testpostgres.Run(m, &server))
}

const origin = "https://home.example"

var start = time.Date(2026, 11, 25, 10, 0, 0, 0, time.UTC)

// home is a home and the database. The clock moves only in run and pass.
type home struct {
	*service.Service
	config  service.Config
	address string
	worker  hiretest.Agent
	offset  *atomic.Int64
	log     *logged
}

// onBoth runs a test on a home with an empty database, for each database engine.
func onBoth(t *testing.T, change func(*service.Config), test func(t *testing.T, h *home)) {
	t.Helper()
	server.OnBoth(t, func(t *testing.T, address string) { test(t, newHome(t, address, change)) })
}

func newHome(t testing.TB, address string, change func(*service.Config)) *home {
	t.Helper()
	h := &home{address: address, worker: hiretest.At(origin), offset: new(atomic.Int64), log: new(logged)}
	h.config = service.Config{
		ID: origin, Key: h.worker.Public(), Now: h.now, Log: slog.New(slog.NewTextHandler(h.log, nil)),
		Client: &hire.Client{Local: true},
	}
	if change != nil {
		change(&h.config)
	}
	h.reopen(t)
	return h
}

// reopen replaces the service by a service with a further connection to the database, as a further process
// does.
func (h *home) reopen(t testing.TB) {
	t.Helper()
	opened, err := store.Open(t.Context(), h.address)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, opened.Close()) })
	h.config.Store = opened
	h.Service, err = service.New(h.config)
	require.NoError(t, err)
}

// another returns a further process sharing the database.
func (h *home) another(t testing.TB) *home {
	other := *h
	other.reopen(t)
	return &other
}

// run executes the background work until the test ends, or until the returned function is called. Meanwhile the
// clock advances with the real time.
func (h *home) run(t testing.TB) (stop func()) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 2)
	running := h.Service
	go func() {
		const step = 50 * time.Millisecond
		ticker := time.NewTicker(step)
		defer ticker.Stop()
		for ctx.Err() == nil {
			<-ticker.C
			h.pass(step)
		}
		done <- nil
	}()
	go func() { done <- running.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(t, <-done)
		assert.NoError(t, <-done)
	})
	t.Cleanup(stop)
	return stop
}

func (h *home) now() time.Time { return start.Add(time.Duration(h.offset.Load())) }

func (h *home) pass(d time.Duration) { h.offset.Add(int64(d)) }

// talk returns a new conversation with the home's worker.
func (h *home) talk() *hiretest.Talk { return hiretest.NewTalk(hiretest.NewAgent(), h.worker) }

// send requires the home to accept. Like each sender, it repeats the message if a busy home does not reply in
// time.
func (h *home) send(t testing.TB, k *hiretest.Talk, role hire.Role, of hire.Type) *hire.Message {
	t.Helper()
	m := k.Message(t, role, of, h.now())
	err := h.Receive(t.Context(), m)
	for errors.Is(err, context.DeadlineExceeded) && t.Context().Err() == nil {
		var refusal *hire.Refusal
		err = h.Receive(t.Context(), m)
		if errors.As(err, &refusal) && refusal.Reason == hire.ReasonDuplicate {
			err = nil // the message was stored
		}
	}
	require.NoError(t, err)
	k.Stored(m)
	return m
}

// agree brings a new conversation to a deal accepted by the two sides.
func (h *home) agree(t testing.TB, k *hiretest.Talk) {
	t.Helper()
	h.send(t, k, hire.RoleSeeker, hire.TypeProposal)
	h.send(t, k, hire.RoleWorker, hire.TypeCounter)
	h.send(t, k, hire.RoleSeeker, hire.TypeAccept)
	h.send(t, k, hire.RoleWorker, hire.TypeAccept)
}

// reasonOf returns a refusal's reason.
func reasonOf(t testing.TB, err error) hire.Reason {
	t.Helper()
	var refusal *hire.Refusal
	require.ErrorAs(t, err, &refusal)
	return refusal.Reason
}

func (h *home) state(t testing.TB, k *hiretest.Talk) hire.State {
	t.Helper()
	state, err := h.config.Store.State(t.Context(), idOf(k))
	if errors.Is(err, store.ErrNotFound) {
		return hire.State{}
	}
	require.NoError(t, err)
	return state
}

// idOf returns a conversation's id at the home.
func idOf(k *hiretest.Talk) string {
	return store.ConversationID(k.Conversation, k.Seeker.ID, k.Worker.ID)
}

// messages returns all hashes from a conversation's log.
func (h *home) messages(t testing.TB, k *hiretest.Talk) (hashes []hire.Hash) {
	t.Helper()
	links, err := h.Log(t.Context(), k.Worker.ID, k.Conversation, k.Seeker.ID)
	require.NoError(t, err)
	for link, err := range links {
		require.NoError(t, err)
		hashes = append(hashes, messageOf(t, link).Hash())
	}
	return hashes
}

// received returns the next n messages among an agent's events, after the given number.
func (h *home) received(t testing.TB, agent string, after int64, n int) (messages []*hire.Message) {
	t.Helper()
	stream, err := h.Events(agent, after)
	require.NoError(t, err)
	defer stream.Close()
	for len(messages) < n {
		events, err := stream.Next(t.Context())
		require.NoError(t, err)
		for _, event := range events {
			after++
			require.Equal(t, after, event.Number)
			m, err := hire.Parse(event.Message)
			require.NoError(t, err)
			require.Equal(t, agent, m.To())
			messages = append(messages, m)
		}
	}
	return messages
}

// logged is what a home has logged.
type logged struct {
	lock sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(data []byte) (int, error) {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.Write(data)
}

func (l *logged) String() string {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.text.String()
}
