package service_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/haggle-protocol/haggle/internal/hire/hiretest"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/internal/hire/store"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// A stream begins with the stored events, waits for further events, and continues from any number.
func TestStreamDeliversEachEventOnce(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, h *home) {
		const before, after = 2*store.MaxEvents + 3, 5
		var want []hire.Hash
		send := func() { want = append(want, h.send(t, h.talk(), hire.RoleSeeker, hire.TypeProposal).Hash()) }
		for range before {
			send()
		}
		stream, err := h.Events(h.worker.ID, 0)
		require.NoError(t, err)
		defer stream.Close()
		var got []hire.Hash
		next := func(n int) {
			for len(got) < n {
				events, err := stream.Next(t.Context())
				require.NoError(t, err)
				for _, event := range events {
					m, err := hire.Parse(event.Message)
					require.NoError(t, err)
					require.EqualValues(t, len(got)+1, event.Number)
					got = append(got, m.Hash())
				}
			}
		}
		next(before)
		for range after {
			sent := make(chan struct{})
			go func() { defer close(sent); send() }()
			next(len(got) + 1)
			<-sent
		}
		require.Equal(t, want, got)
		rest := h.received(t, h.worker.ID, before-1, after+1)
		require.Equal(t, want[before-1], rest[0].Hash())

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = stream.Next(ctx)
		require.ErrorIs(t, err, context.Canceled)
		send()
		next(len(want))
	})
}

// Processes share a database: a stream delivers the messages received by a different process, in order and
// once.
func TestStreamDeliversTheEventsOfOtherProcesses(t *testing.T) {
	onBoth(t, nil, func(t *testing.T, h *home) {
		const processes, each = 3, 20
		h.run(t)
		var sending sync.WaitGroup
		for range processes {
			other := h.another(t)
			sending.Go(func() {
				for range each {
					k := other.talk()
					assert.NoError(t, other.Receive(t.Context(), k.Message(t, hire.RoleSeeker, hire.TypeProposal, h.now())))
				}
			})
		}
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() { h.received(t, h.worker.ID, 0, processes*each) })
		}
		sending.Wait()
		readers.Wait()
	})
}

func TestStreamsAreLimited(t *testing.T) {
	h := newHome(t, t.TempDir()+"/home.db", func(c *service.Config) { c.Limits.Streams, c.Limits.StreamsPerAgent = 4, 2 })
	open := func(agent string) *service.Stream {
		stream, err := h.Events(agent, 0)
		require.NoError(t, err)
		return stream
	}
	full := func(agent string) {
		var overload *service.Overload
		_, err := h.Events(agent, 0)
		require.ErrorAs(t, err, &overload)
	}
	stranger := hiretest.NewAgent()
	first, second := open(stranger.ID), open(stranger.ID)
	third := open(stranger.ID)
	_, err := first.Next(t.Context())
	require.ErrorIs(t, err, service.ErrEnded, "a further stream ends the agent's oldest one")
	first.Close()
	open(hiretest.NewAgent().ID)
	full(hiretest.NewAgent().ID) // the last quarter is for hosted agents
	hosted := open(h.worker.ID)
	full("https://another.example")
	second.Close()
	second.Close() // a second call does nothing
	open(h.worker.ID)
	full(h.worker.ID + "1")
	third.Close()
	full(hiretest.NewAgent().ID)
	hosted.Close()
	open(hiretest.NewAgent().ID)
	hosted = open(h.worker.ID)

	waiting := make(chan error, 1)
	go func() {
		_, err := hosted.Next(t.Context())
		waiting <- err
	}()
	h.EndStreams()
	require.ErrorIs(t, <-waiting, service.ErrEnded)
	full(h.worker.ID)
}

// The streams end with the background work: a stopping process does not keep the readers.
func TestStoppedHomeEndsItsStreams(t *testing.T) {
	h := newHome(t, t.TempDir()+"/home.db", nil)
	stream, err := h.Events(h.worker.ID, 0)
	require.NoError(t, err)
	stop := h.run(t)
	stop()
	_, err = stream.Next(t.Context())
	require.ErrorIs(t, err, service.ErrEnded)
}

// 1,000 conversations at once, over a single home: all end with a deal accepted by both sides, and both sides
// receive each conversation's messages in order.
func TestManyConversationsAtOnce(t *testing.T) {
	const conversations, workers = 1000, 8
	onBoth(t, func(c *service.Config) { c.Open = true }, func(t *testing.T, h *home) {
		talks := make(chan *hiretest.Talk)
		var agents [workers]hiretest.Agent
		for i := range agents {
			agents[i] = hiretest.NewAgent()
		}
		var all []*hiretest.Talk
		for i := range conversations {
			all = append(all, hiretest.NewTalk(agents[(i+1)%workers], agents[i%workers]))
		}
		var group sync.WaitGroup
		for range 64 {
			group.Go(func() {
				for k := range talks {
					h.agree(t, k)
				}
			})
		}
		for _, k := range all {
			talks <- k
		}
		close(talks)
		group.Wait()
		for _, k := range all {
			state := h.state(t, k)
			require.Equal(t, hire.PhaseContracted, state.Phase)
			require.Equal(t, k.Last, state.Last)
			require.NotEmpty(t, state.SeekerAccept)
			require.NotEmpty(t, state.WorkerAccept)
		}
		for _, agent := range agents {
			last := map[string]hire.Hash{}
			for _, m := range h.received(t, agent.ID, 0, conversations/workers*4) {
				require.NotEqual(t, m.Hash(), last[m.Conversation()])
				last[m.Conversation()] = m.Hash()
			}
		}
	})
}
