package service

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/haggle-protocol/haggle/internal/hire/store"
)

const (
	// pollEvery is the interval of the query that finds the events of other processes, for all streams at
	// once.
	pollEvery = time.Second
	// pollOverlap exceeds the clock difference between processes plus the duration of a transaction. With a
	// larger difference, a home would refuse all messages anyway.
	pollOverlap = time.Minute
)

// ErrEnded means that the home stops, or that the agent has opened too many further streams.
var ErrEnded = errors.New("hire: stream ended")

// Stream delivers an agent's events, each once and in order. It is not safe for concurrent use.
type Stream struct {
	service *Service
	agent   string
	// after is the number of the last returned event.
	after atomic.Int64
	// behind reports whether the database may contain further events.
	behind bool
	// signal receives a value after an event was added.
	signal chan struct{}
	ended  chan struct{}
}

// Events opens a stream of an agent's events after a number, from 0. It returns an [*Overload] if there are
// too many streams. The caller closes the stream.
func (s *Service) Events(agent string, after int64) (*Stream, error) {
	stream := &Stream{
		service: s, agent: agent, behind: true, signal: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	stream.after.Store(after)
	if !s.hub.add(stream, s.hosts(agent)) {
		return nil, &Overload{After: 5 * time.Second, Text: "too many event streams"}
	}
	return stream, nil
}

// Next returns the next events: one to [store.MaxEvents]. It waits for one until ctx ends, and returns
// [ErrEnded] after the home has ended the stream.
func (s *Stream) Next(ctx context.Context) ([]store.Event, error) {
	for {
		select {
		case <-s.ended:
			return nil, ErrEnded
		default:
		}
		if s.behind {
			events, err := s.service.config.Store.Events(ctx, s.agent, s.after.Load())
			if err != nil {
				return nil, err
			}
			s.behind = len(events) == store.MaxEvents
			if len(events) > 0 {
				s.after.Store(events[len(events)-1].Number)
				return events, nil
			}
		}
		select {
		case <-s.signal:
			s.behind = true
		case <-s.ended:
			return nil, ErrEnded
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Close removes the stream from the home.
func (s *Stream) Close() { s.service.hub.remove(s) }

// EndStreams ends all streams, and refuses further ones.
func (s *Service) EndStreams() { s.hub.close() }

// wakeStreams wakes the streams for which other processes have added events, with one query for all of them.
func (s *Service) wakeStreams(ctx context.Context) {
	every(ctx, pollEvery, func() {
		if s.hub.isEmpty() {
			return
		}
		err := s.config.Store.ChangedRecipients(ctx, s.now().Add(-pollOverlap), s.hub.wake)
		s.failed(ctx, "looking for events", err)
	})
}

// hub contains the open streams of the process.
type hub struct {
	limits Limits

	lock sync.Mutex
	// streams are in the order of their openings.
	streams map[string][]*Stream
	count   int
	closed  bool
}

func newHub(limits Limits) *hub { return &hub{limits: limits, streams: make(map[string][]*Stream)} }

// add adds a stream. It returns false if there are too many.
func (h *hub) add(s *Stream, hosted bool) bool {
	h.lock.Lock()
	defer h.lock.Unlock()
	limit := h.limits.Streams
	if !hosted {
		limit -= limit / 4
	}
	if h.closed {
		return false
	}
	if own := h.streams[s.agent]; len(own) >= h.limits.StreamsPerAgent {
		// The oldest one is probably a connection that the agent has lost.
		h.end(own[0])
	} else if h.count >= limit {
		return false
	}
	h.streams[s.agent] = append(h.streams[s.agent], s)
	h.count++
	return true
}

// end ends a stream. The caller has the lock.
func (h *hub) end(s *Stream) {
	own := h.streams[s.agent]
	for i, other := range own {
		if other == s {
			close(s.ended)
			h.count--
			if own = append(own[:i:i], own[i+1:]...); len(own) == 0 {
				delete(h.streams, s.agent)
			} else {
				h.streams[s.agent] = own
			}
			return
		}
	}
}

func (h *hub) remove(s *Stream) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.end(s)
}

// wake wakes the streams of an agent that lack the event with a number.
func (h *hub) wake(agent string, number int64) {
	h.lock.Lock()
	defer h.lock.Unlock()
	for _, s := range h.streams[agent] {
		if number > s.after.Load() {
			select {
			case s.signal <- struct{}{}:
			default:
			}
		}
	}
}

func (h *hub) isEmpty() bool {
	h.lock.Lock()
	defer h.lock.Unlock()
	return h.count == 0
}

func (h *hub) close() {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.closed = true
	for _, own := range h.streams {
		for _, s := range own {
			h.end(s)
		}
	}
}
