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
	// pollEvery is how often the query for other processes' events runs, for all streams at once.
	pollEvery = time.Second
	// pollOverlap exceeds the clock difference between processes plus the transaction duration. With a larger
	// difference, a home would refuse all messages anyway.
	pollOverlap = time.Minute
)

// ErrEnded means that the home stops, or that the agent has opened too many further streams.
var ErrEnded = errors.New("hire: stream ended")

// Stream delivers an agent's events, each once and in order; it is not safe for concurrent use.
type Stream struct {
	service *Service
	agent   string
	// after is the last returned event's number.
	after atomic.Int64
	// behind reports whether the database may contain further events.
	behind bool
	// signal receives a value when an event was added.
	signal chan struct{}
	ended  chan struct{}
}

// Events opens a stream with an agent's events after the given number, from 0. It returns an [*Overload] if
// there are too many streams. The caller closes the stream.
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

// Next returns the next events, 1 to [store.MaxEvents]. It waits for an event until ctx ends, and returns
// [ErrEnded] when the home has ended the stream.
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

// wakeStreams wakes the streams that lack events added by other processes, using a single query.
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
	// streams holds each agent's streams in opening order.
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
		// The oldest is probably a connection that the agent has lost.
		h.end(own[0])
	} else if h.count >= limit {
		return false
	}
	h.streams[s.agent] = append(h.streams[s.agent], s)
	h.count++
	return true
}

// end ends a stream. The caller holds the lock.
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

// wake wakes an agent's streams that lack the event with the given number.
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
