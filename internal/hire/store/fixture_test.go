package store_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/internal/testpostgres"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// server runs PostgreSQL for all tests.
var server *testpostgres.Server

func TestMain(m *testing.M) { os.Exit(testpostgres.Run(m, &server)) }

// onBoth runs a test on an empty database, for each database engine.
func onBoth(t *testing.T, test func(t *testing.T, h *home)) {
	t.Helper()
	server.OnBoth(t, func(t *testing.T, address string) {
		test(t, &home{Store: open(t, address), address: address, now: start})
	})
}

func open(t *testing.T, address string) *store.Store {
	t.Helper()
	opened, err := store.Open(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, opened.Close()) })
	return opened
}

var start = time.Date(2026, 11, 25, 10, 0, 0, 123456000, time.UTC)

// home is a store, and a clock that advances by a second per message.
type home struct {
	*store.Store
	address string
	now     time.Time
}

// append stores a message unchecked, but otherwise like a home.
func (h *home) append(t *testing.T, k *hiretest.Talk, role hire.Role, of hire.Type) int64 {
	t.Helper()
	h.now = h.now.Add(time.Second)
	m := k.Message(t, role, of, h.now)
	number, err := h.store(t, m, func(*store.Arrival) {})
	require.NoError(t, err)
	k.Stored(m)
	return number
}

// store stores a message in a separate transaction. change changes the arrival.
func (h *home) store(t *testing.T, m *hire.Message, change func(*store.Arrival)) (int64, error) {
	t.Helper()
	tx, err := h.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Cancel()) }()
	c, err := tx.Lock(t.Context(), m.Conversation(), m.From(), m.To(), h.now)
	require.NoError(t, err)
	next, err := c.State.Next(m, h.now, hire.Rules{Lenient: true})
	if err != nil {
		next = c.State
	}
	a := store.Arrival{Message: m, At: h.now, State: next, Due: next.Due}
	change(&a)
	number, err := tx.Append(t.Context(), c, a)
	if err != nil {
		return 0, err
	}
	return number, tx.Commit()
}

// talks returns conversations between a single seeker and a single worker.
func talks(n int) (all []*hiretest.Talk) {
	seeker, worker := hiretest.NewAgent(), hiretest.NewAgent()
	for range n {
		all = append(all, hiretest.NewTalk(seeker, worker))
	}
	return all
}

// numbers returns all event numbers for an agent, page by page.
func (h *home) numbers(t *testing.T, agent string) (numbers []int64, messages []string) {
	t.Helper()
	for after := int64(0); ; {
		page, err := h.Events(t.Context(), agent, after)
		require.NoError(t, err)
		for _, event := range page {
			after = event.Number
			numbers, messages = append(numbers, event.Number), append(messages, string(event.Message))
		}
		if len(page) < store.MaxEvents {
			return numbers, messages
		}
	}
}

// upTo returns the numbers 1 to n.
func upTo(n int) (all []int64) {
	for i := range n {
		all = append(all, int64(i+1))
	}
	return all
}

// sessionOf returns n as a session.
func sessionOf(n uint64) *uint64 { return &n }

var errTest = fmt.Errorf("test")
