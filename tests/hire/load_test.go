package hire_test

import (
	"context"
	"crypto/ed25519"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	homestore "github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/internal/hire/transport"
	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/bargain/strategy"
	"github.com/haggle-protocol/haggle/sdk/hire"
	"github.com/haggle-protocol/haggle/sdk/hire/party"
	"github.com/haggle-protocol/haggle/sdk/store/sqlite"
)

// home is a home in this process. It settles nothing.
type home struct {
	worker  hiretest.Agent
	service *service.Service
}

func startHome(t *testing.T, database string) *home {
	t.Helper()
	opened, err := homestore.Open(t.Context(), database)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	h := &home{worker: hiretest.At("http://" + listener.Addr().String())}
	quiet := slog.New(slog.DiscardHandler)
	h.service, err = service.New(service.Config{
		Store: opened, ID: h.worker.ID, Key: h.worker.Public(), Client: &hire.Client{Local: true}, Log: quiet,
		Limits: service.Limits{Messages: 4096},
	})
	require.NoError(t, err)
	card, err := hire.SignCard(h.worker.Key, nil, hire.Card{ID: h.worker.ID, Inbox: h.worker.ID + hire.InboxPath})
	require.NoError(t, err)
	server, err := transport.NewServer(transport.Config{Service: h.service, Origin: h.worker.ID, Card: card, Log: quiet})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var group errgroup.Group
	group.Go(func() error { return h.service.Run(ctx) })
	group.Go(func() error {
		if err := server.Serve(listener); err != http.ErrServerClosed {
			return err
		}
		return nil
	})
	t.Cleanup(func() {
		cancel()
		require.NoError(t, server.Close())
		require.NoError(t, group.Wait())
		require.NoError(t, opened.Close())
	})
	return h
}

// agent returns the configuration for an agent at the home, with separate pins.
func (h *home) agent(t *testing.T, agent hiretest.Agent) party.Config {
	t.Helper()
	state, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "state.db"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, state.Close()) })
	client := &hire.Client{Local: true}
	return party.Config{
		Home:     &hire.Home{Origin: h.worker.ID, Agent: agent.ID, Key: agent.Key, Client: client},
		Resolver: &hire.Resolver{Client: client, Pins: state.HirePins()},
		Assets:   []hire.Asset{{Symbol: "USDC", Mint: hiretest.Arbiter, Decimals: 6}},
		Limits: party.Limits{
			Prices:   map[string]party.PriceLimits{"USDC": {Least: 3e6, Most: 5e6}},
			Arbiters: []hire.Base58{hiretest.Arbiter}, Shortest: time.Minute, Longest: 7 * 24 * time.Hour,
		},
		Logger: slog.New(slog.DiscardHandler),
	}
}

// run runs an agent until the test ends.
func run(t *testing.T, agent interface{ Run(context.Context) error }) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- agent.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	})
}

// figures contains a measurement's times.
type figures struct {
	times []time.Duration
	took  time.Duration
}

func (f *figures) quantile(percent int) string {
	slices.Sort(f.times)
	return fmt.Sprintf("%.2f", float64(report.Quantile(f.times, percent).Microseconds())/1000)
}

// perConversation is the number of replies in a conversation, below [hire.MaxMessages].
const perConversation = 200

// replies measures, in consecutive conversations, the time between a seeker's request and the worker's reply
// in the inbox: two messages, each signed, verified, and on disk before delivery.
func (h *home) replies(t *testing.T, count int) *figures {
	seeker := hiretest.NewAgent()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	connect := func(agent hiretest.Agent) (*hire.Home, chan *hire.Message) {
		at := &hire.Home{Origin: h.worker.ID, Agent: agent.ID, Key: agent.Key, Client: &hire.Client{Local: true}}
		messages := make(chan *hire.Message, 1)
		go func() {
			for event, err := range at.Events(ctx, 0) {
				if err != nil {
					return
				}
				messages <- event.Message
			}
		}()
		return at, messages
	}
	asks, toSeeker := connect(seeker)
	answers, toWorker := connect(h.worker)
	f := &figures{}
	begin := time.Now()
	var k *hiretest.Talk
	for i := range count {
		of := hire.TypeClarification
		if i%perConversation == 0 {
			k, of = hiretest.NewTalk(seeker, h.worker), hire.TypeProposal
		}
		m := k.Message(t, hire.RoleSeeker, of, time.Now())
		replied := make(chan error, 1)
		go func() {
			k.Stored(<-toWorker)
			replied <- answers.Send(ctx, k.Message(t, hire.RoleWorker, hire.TypeClarification, time.Now()))
		}()
		sent := time.Now()
		require.NoError(t, asks.Send(ctx, m))
		reply := <-toSeeker
		f.times = append(f.times, time.Since(sent))
		require.NoError(t, <-replied)
		require.Equal(t, m.Hash(), reply.InReplyTo())
		k.Stored(reply)
	}
	f.took = time.Since(begin)
	return f
}

// deals runs conversations at once, from the proposal to both accepts, between seekers and one worker, and
// returns each conversation's time.
func (h *home) deals(t *testing.T, conversations, seekers int) *figures {
	player := party.Player{Strategy: strategy.Linear(), Opening: 6e6, Reservation: 3e6}
	worker, err := party.NewWorker(party.Worker{Config: h.agent(t, h.worker), Quote: player.Decide})
	require.NoError(t, err)
	run(t, worker)
	f := &figures{}
	var lock sync.Mutex
	group, ctx := errgroup.WithContext(t.Context())
	begin := time.Now()
	for n := range seekers {
		player := party.Player{Strategy: strategy.Linear(), Opening: 2e6, Reservation: 5e6}
		seeker, err := party.NewSeeker(party.Seeker{Config: h.agent(t, hiretest.NewAgent()), Decide: player.Decide})
		require.NoError(t, err)
		run(t, seeker)
		for i := n; i < conversations; i += seekers {
			group.Go(func() error {
				sent := time.Now()
				result, err := seeker.Hire(ctx, party.Request{
					Conversation: fmt.Sprintf("order-%d", i), Worker: h.worker.ID, Task: "a logo", Symbol: "USDC", Price: 2e6,
					Deadline: time.Now().Add(time.Hour).Truncate(time.Second), Arbiter: hiretest.Arbiter,
				})
				if err != nil || result.Outcome != party.Agreed {
					return fmt.Errorf("conversation %d: %s %s: %w", i, result.Outcome, result.Code, err)
				}
				lock.Lock()
				defer lock.Unlock()
				f.times = append(f.times, time.Since(sent))
				return nil
			})
		}
	}
	require.NoError(t, group.Wait())
	f.took = time.Since(begin)
	return f
}

// messages returns the number of messages in the worker's conversations. Both sides have accepted each
// conversation.
func (h *home) messages(t *testing.T, conversations int) (count int) {
	t.Helper()
	at := &hire.Home{Origin: h.worker.ID, Agent: h.worker.ID, Key: h.worker.Key, Client: &hire.Client{Local: true}}
	query, seen := hire.ConversationQuery{}, 0
	for {
		page, err := at.Conversations(t.Context(), query)
		require.NoError(t, err)
		for _, c := range page.Conversations {
			require.Equal(t, hire.PhaseContracted, c.State.Phase)
			require.NotEmpty(t, c.State.SeekerAccept)
			require.NotEmpty(t, c.State.WorkerAccept)
			log, err := at.Log(t.Context(), c.ID, c.Seeker)
			require.NoError(t, err)
			count += len(log.Arrivals)
			var state hire.State
			for _, arrival := range log.Arrivals {
				key, err := hire.KeyOf(arrival.Message.From())
				if arrival.Message.From() == h.worker.ID {
					key, err = ed25519.PublicKey(h.worker.Public()), nil
				}
				require.NoError(t, err)
				require.NoError(t, arrival.Message.Verify(key))
				state, err = state.Next(arrival.Message, arrival.At, hire.Rules{})
				require.NoError(t, err)
			}
			require.Equal(t, c.State, state)
			seen++
		}
		if query.After = page.Next; query.After == "" {
			require.Equal(t, conversations, seen)
			return count
		}
	}
}

// Many conversations at once end with the same terms on both sides, and the home's logs contain all their
// messages. With HAGGLE_HIRE_REPORT, a file, the times are written to it: make hire-load.
func TestManyConversationsAtOnce(t *testing.T) {
	conversations := number("HAGGLE_HIRE_CONVERSATIONS", 100)
	replies := number("HAGGLE_HIRE_REPLIES", 100)
	seekers := min(100, conversations)
	times := report.NewTable("", "median ms", "p99 ms", "per second")
	for _, database := range []struct{ name, address string }{
		{"SQLite", t.TempDir() + "/home.db"}, {"PostgreSQL", server.Create(t)},
	} {
		t.Run(database.name, func(t *testing.T) {
			h := startHome(t, database.address)
			one := h.replies(t, replies)
			// Measuring single conversations leaves conversations that are not agreed.
			h = startHome(t, map[string]string{
				"SQLite": t.TempDir() + "/many.db", "PostgreSQL": server.Create(t),
			}[database.name])
			many := h.deals(t, conversations, seekers)
			count := h.messages(t, conversations)
			times.Row("reply in one conversation, "+database.name, one.quantile(50), one.quantile(99),
				fmt.Sprintf("%.0f replies", float64(replies)/one.took.Seconds()))
			times.Row(fmt.Sprintf("deal, %s at once, %s", report.Count(conversations), database.name),
				many.quantile(50), many.quantile(99), fmt.Sprintf("%.0f messages", float64(count)/many.took.Seconds()))
		})
	}
	path := os.Getenv("HAGGLE_HIRE_REPORT")
	if path == "" || t.Failed() {
		return
	}
	text := fmt.Sprintf(`# Load of a home

Written by `+"`make hire-load`"+` (%s).

A *reply* is the time from a seeker's request to the inbox until its event stream has the worker's reply, in one
conversation: two messages, each signed, verified, and on disk before it is delivered. %s replies are measured.

A *deal* is the time from the proposal to the second accept. %s conversations begin at once, of %d seekers with one
worker; all of them bargain by a strategy. Seekers, worker, home and database share the machine's processors. At the end
each log is verified, and each conversation is agreed. Nothing is settled on chain.

%s`, report.Machine(), report.Count(replies), report.Count(conversations), seekers, times)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
}
