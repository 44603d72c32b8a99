package service

import (
	"errors"
	"sync"

	"github.com/haggle-protocol/haggle/sdk/arena"
)

// The reasons why a stream ends.
var (
	// ErrReplaced: the agent has opened another stream.
	ErrReplaced = errors.New("arena: another connection of the agent has taken over")
	// ErrSlow: the reader is too far behind. It can continue with a new stream.
	ErrSlow = errors.New("arena: the reader is too slow")
	// ErrGone: the events after the reader's number are no longer here. The reader must read the market's
	// state, and continue from the state's number.
	ErrGone = errors.New("arena: the events are too old")
	// ErrStopped: this process no longer runs the market.
	ErrStopped = errors.New("arena: the market is not here any more")
)

const (
	// kept is how many events can be read again, by each agent and by spectators.
	kept = 256
	// ahead is how many events a reader may lag behind.
	ahead = 256
)

// Stream delivers an agent's events, or a market's public events.
type Stream struct {
	events chan arena.Shown
	// next is the next event's number.
	next    uint64
	arrived Arrival
	once    sync.Once
	err     error
	done    chan struct{}
}

func newStream(next uint64) *Stream {
	return &Stream{events: make(chan arena.Shown, ahead+kept), next: next, done: make(chan struct{})}
}

// Events delivers the events, sorted by number. When the stream has ended, some may be left.
func (s *Stream) Events() <-chan arena.Shown { return s.events }

// Done is closed at the end of the stream. Err tells why.
func (s *Stream) Done() <-chan struct{} { return s.done }

// Err returns the reason after Done.
func (s *Stream) Err() error { return s.err }

func (s *Stream) end(reason error) {
	s.once.Do(func() {
		s.err = reason
		close(s.done)
	})
}

// push delivers an event, unless delivered already. If a reader lags too far behind, the stream ends.
func (s *Stream) push(event arena.Shown, number uint64) {
	if number != s.next {
		return
	}
	select {
	case s.events <- event:
		s.next++
	default:
		s.end(ErrSlow)
	}
}

// past holds an agent's latest events, or the latest public events.
type past struct {
	// last is the latest event's number.
	last   uint64
	recent []arena.Shown
}

func (p *past) add(event arena.Event) arena.Shown {
	p.last++
	shown := arena.Shown{Number: p.last, At: event.At, Fact: event.Fact}
	if len(p.recent) == 2*kept {
		p.recent = append([]arena.Shown(nil), p.recent[kept:]...)
	}
	p.recent = append(p.recent, shown)
	return shown
}

// since returns the events after the given number. It returns [ErrGone] if some are no longer here.
func (p *past) since(number uint64) ([]arena.Shown, error) {
	first := p.last - uint64(len(p.recent))
	switch {
	case number > p.last || number < first:
		return nil, ErrGone
	default:
		events := p.recent[number-first:]
		if len(events) > kept {
			return nil, ErrGone
		}
		return events, nil
	}
}
