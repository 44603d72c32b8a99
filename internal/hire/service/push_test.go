package service_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// peer is a seeker with an origin, a card and an inbox.
type peer struct {
	hiretest.Agent
	server *httptest.Server
	// receive is called with each message to the inbox.
	receive func(*hire.Message) error

	lock     sync.Mutex
	received []hire.Hash
	// arrived receives a value for each message accepted by the inbox.
	arrived chan struct{}
}

func newPeer(t *testing.T) *peer {
	t.Helper()
	p := &peer{arrived: make(chan struct{}, 1000), receive: func(*hire.Message) error { return nil }}
	mux := http.NewServeMux()
	p.server = httptest.NewServer(mux)
	t.Cleanup(p.server.Close)
	p.Agent = hiretest.At(p.server.URL)
	p.publish(t, mux, nil)
	mux.Handle(hire.InboxPath, hire.Inbox(func(_ context.Context, m *hire.Message) error {
		p.lock.Lock()
		defer p.lock.Unlock()
		if err := p.receive(m); err != nil {
			return err
		}
		p.received = append(p.received, m.Hash())
		p.arrived <- struct{}{}
		return nil
	}, nil))
	return p
}

// publish publishes the card. previous is the key that the agent's key replaces.
func (p *peer) publish(t *testing.T, mux *http.ServeMux, previous []byte) {
	t.Helper()
	card, err := hire.SignCard(p.Key, previous, hire.Card{ID: p.ID, Inbox: p.ID + hire.InboxPath})
	require.NoError(t, err)
	mux.HandleFunc(hire.CardPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(card)
	})
}

// await waits for a number of further messages, and returns all that have arrived.
func (p *peer) await(n int) []hire.Hash {
	for range n {
		<-p.arrived
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	return append([]hire.Hash{}, p.received...)
}

// negotiate sends a proposal and a number of clarifications of the worker, and returns the hashes of these.
func (h *home) negotiate(t *testing.T, seeker hiretest.Agent, n int) (hashes []hire.Hash) {
	t.Helper()
	k := hiretest.NewTalk(seeker, h.worker)
	h.send(t, k, hire.RoleSeeker, hire.TypeProposal)
	for range n {
		hashes = append(hashes, h.send(t, k, hire.RoleWorker, hire.TypeClarification).Hash())
	}
	return hashes
}

func TestEventsArePushedInOrder(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, h *home) {
		p := newPeer(t)
		want := h.negotiate(t, p.Agent, 20)
		h.run(t)
		require.Equal(t, want, p.await(20))
		more := h.negotiate(t, p.Agent, 3)
		require.Equal(t, append(want, more...), p.await(3))
		require.Len(t, h.received(t, p.ID, 0, 23), 23, "the stream has the messages as well")
	})
}

// Unresponsive peers, and peers that lost their inbox, do not delay a peer that accepted the previous event.
func TestDeadPeerDelaysNobody(t *testing.T) {
	onBoth(t, func(c *service.Config) { c.Limits.Pushes = 4 }, func(t *testing.T, h *home) {
		h.SetPushLimit(time.Hour) // an attempt lasts until the test ends
		p := newPeer(t)
		want := h.negotiate(t, p.Agent, 1)
		stop := h.run(t)
		p.await(1)
		ended := make(chan struct{})
		for i := range 10 { // more than all places
			dead := newPeer(t)
			dead.receive = func(*hire.Message) error {
				<-ended
				return errors.New("too late")
			}
			h.negotiate(t, dead.Agent, 1)
			if i%2 == 0 { // Close would wait for an arrived push
				require.NoError(t, dead.server.Listener.Close())
				dead.server.CloseClientConnections()
			}
			more := h.negotiate(t, p.Agent, 2)
			want = append(want, more...)
			require.Equal(t, want, p.await(2))
		}
		close(ended)
		stop()
	})
}

// Peers that have failed do not delay healthy peers.
func TestFailedPeerDelaysNobody(t *testing.T) {
	onBoth(t, func(c *service.Config) { c.Limits.Pushes = 4 }, func(t *testing.T, h *home) {
		const failing = 10
		p := newPeer(t)
		want := h.negotiate(t, p.Agent, 1)
		stop := h.run(t)
		p.await(1)
		h.SetPushLimit(20 * time.Millisecond)
		for range failing {
			dead := newPeer(t)
			// A push can arrive before the server is closed.
			dead.receive = func(*hire.Message) error { return errors.New("failing") }
			h.negotiate(t, dead.Agent, 1)
			dead.server.Close()
		}
		failed := func() (count int) {
			due, err := h.config.Store.DuePushes(t.Context(), h.now().Add(time.Hour), 2*failing)
			require.NoError(t, err)
			for _, push := range due {
				if push.Failures > 0 {
					count++
				}
			}
			return count
		}
		require.Eventually(t, func() bool { return failed() == failing }, time.Minute, 10*time.Millisecond)
		h.SetPushLimit(time.Hour) // the next attempts last until the test ends
		h.pass(time.Hour)
		for range 5 {
			want = append(want, h.negotiate(t, p.Agent, 1)...)
			require.Equal(t, want, p.await(1))
		}
		stop()
	})
}

// If the peer refuses a push, the push is given up: the stream still contains the message, and the next
// message is pushed.
func TestRefusedPushIsGivenUp(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, h *home) {
		p := newPeer(t)
		var refused hire.Hash
		p.receive = func(m *hire.Message) error {
			if refused == "" {
				refused = m.Hash()
			}
			if m.Hash() == refused {
				return &hire.Refusal{Reason: hire.ReasonOrder, Text: "late"}
			}
			return nil
		}
		want := h.negotiate(t, p.Agent, 3)
		h.run(t)
		require.Equal(t, want[1:], p.await(2))
		require.Equal(t, want[0], refused)
		require.Contains(t, h.log.String(), "event not pushed")
		require.Len(t, h.received(t, p.ID, 0, 3), 3)
	})
}

// When a process stops, the next process pushes the remaining events at once: none is left out, and their
// order stays.
func TestPushContinuesAfterARestart(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, h *home) {
		p := newPeer(t)
		stopped := make(chan struct{})
		p.receive = func(m *hire.Message) error {
			select {
			case <-stopped:
			default:
				if len(p.received) == 5 {
					return errors.New("restarting")
				}
			}
			return nil
		}
		want := h.negotiate(t, p.Agent, 8)
		stop := h.run(t)
		require.Equal(t, want[:5], p.await(5))
		stop()
		close(stopped)
		h.another(t).run(t)
		// A peer receives a message again if the home stopped while the arrival was unknown.
		require.Eventually(t, func() bool { return slices.Equal(want, slices.Compact(p.await(0))) }, time.Minute,
			time.Millisecond)
	})
}

// An agent whose key has changed is known again only if the old key has signed the new one.
func TestKeyRotation(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, h *home) {
		for proven, reason := range map[bool]hire.Reason{true: "", false: hire.ReasonKey} {
			mux := http.NewServeMux()
			server := httptest.NewServer(mux)
			t.Cleanup(server.Close)
			old := hiretest.At(server.URL)
			p := &peer{Agent: hiretest.At(server.URL)}
			if proven {
				p.publish(t, mux, old.Key)
			} else {
				p.publish(t, mux, nil)
			}
			_, err := h.config.Store.Move(t.Context(), p.ID, hire.Pin{}, hire.Pin{Key: hire.Base58(hire.Address(old.Public()))})
			require.NoError(t, err)
			before := hiretest.NewTalk(old, h.worker)
			h.send(t, before, hire.RoleSeeker, hire.TypeProposal)

			after := hiretest.NewTalk(p.Agent, h.worker)
			m := after.Message(t, hire.RoleSeeker, hire.TypeProposal, h.now())
			err = h.Receive(t.Context(), m)
			if proven {
				require.NoError(t, err)
				late := hiretest.NewTalk(old, h.worker).Message(t, hire.RoleSeeker, hire.TypeProposal, h.now())
				require.Equal(t, hire.ReasonSignature, reasonOf(t, h.Receive(t.Context(), late)), "the old key is void")
			} else {
				require.Equal(t, reason, reasonOf(t, err))
			}
		}
	})
}

// Strangers cannot make the home fetch any number of cards.
func TestLookupsAreLimited(t *testing.T) {
	h := newHome(t, t.TempDir()+"/home.db", func(c *service.Config) { c.Limits.Lookups = 1 })
	known := newPeer(t)
	h.negotiate(t, known.Agent, 0)
	var overloads int
	for range 10 {
		stranger := hiretest.At("http://127.0.0.1:1")
		m := hiretest.NewTalk(stranger, h.worker).Message(t, hire.RoleSeeker, hire.TypeProposal, h.now())
		if errors.As(h.Receive(t.Context(), m), new(*service.Overload)) {
			overloads++
		}
	}
	require.Greater(t, overloads, 3)
	h.negotiate(t, known.Agent, 1)
}
