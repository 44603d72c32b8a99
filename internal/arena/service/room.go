package service

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/haggle-protocol/haggle/internal/arena/chain"
	"github.com/haggle-protocol/haggle/internal/arena/store"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

// batch is the largest number of messages that are stored together.
const batch = 64

// request is a message to be applied in a room.
type request struct {
	message *arena.Message
	// answer gets one answer. It has room for it.
	answer chan answer
}

type answer struct {
	receipt arena.Receipt
	err     error
}

// room runs one market. Its goroutine alone uses log and until; lock protects the rest.
type room struct {
	service  *Service
	market   string
	log      *chain.Log
	until    time.Time
	requests chan request
	// asked are functions that read the market.
	asked chan func()
	// gone is closed at the end.
	gone chan struct{}

	lock       sync.Mutex
	public     past
	agents     map[string]*past
	streams    map[string]*Stream
	spectators map[*Stream]bool
	closed     bool
}

func newRoom(s *Service, market string, until time.Time) *room {
	return &room{
		service: s, market: market, until: until, requests: make(chan request, batch),
		asked: make(chan func()), gone: make(chan struct{}), agents: map[string]*past{},
		streams: map[string]*Stream{}, spectators: map[*Stream]bool{},
	}
}

// run works until the context ends or another process takes the market. It returns the reason.
func (r *room) run(ctx context.Context) error {
	defer r.close()
	if err := r.load(ctx); err != nil {
		return err
	}
	extend := time.NewTicker(r.service.config.Lease / 3)
	defer extend.Stop()
	for {
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), r.give())
		case <-extend.C:
			if err := r.extend(ctx); err != nil {
				return err
			}
		case <-r.due():
			if err := r.pass(); err != nil {
				return err
			}
		case read := <-r.asked:
			read()
		case first := <-r.requests:
			if err := r.accept(ctx, r.collect(first)); err != nil {
				return err
			}
			if err := r.keep(ctx); err != nil {
				return err
			}
		}
	}
}

// load reads the market, and delivers the events not yet sent to streams. Meanwhile it extends the lease: a
// long market's log takes longer than a lease.
func (r *room) load(ctx context.Context) error {
	r.lock.Lock()
	defer r.lock.Unlock()
	r.public, r.agents = past{}, map[string]*past{}
	var err error
	r.log, err = r.service.config.Store.Load(ctx, r.market, func(events []arena.Event) error {
		r.deliver(events)
		return r.keep(ctx)
	})
	if err != nil {
		return err
	}
	return r.passLocked()
}

// now returns the time. It returns an error if this process may no longer run the market.
func (r *room) now() (time.Time, error) {
	now := r.service.config.Now()
	if !now.Before(r.until) {
		return now, fmt.Errorf("%w: %s", store.ErrLost, r.market)
	}
	return now, nil
}

// keep extends the lease once a third has passed.
func (r *room) keep(ctx context.Context) error {
	if r.service.config.Now().Before(r.until.Add(-r.service.config.Lease * 2 / 3)) {
		return nil
	}
	return r.extend(ctx)
}

func (r *room) extend(ctx context.Context) error {
	now := r.service.config.Now()
	until := now.Add(r.service.config.Lease)
	if err := r.service.config.Store.Take(ctx, r.market, r.service.config.Holder, now, until); err != nil {
		if errors.Is(err, store.ErrHeld) || !now.Before(r.until) {
			return err
		}
		r.service.config.Log.WarnContext(ctx, "market not extended", "market", r.market, "error", err)
		return nil
	}
	r.until = until
	return nil
}

// give ends this process's time at the end of the service.
func (r *room) give() error {
	ctx, cancel := context.WithTimeout(context.Background(), r.service.config.Lease)
	defer cancel()
	// Events have been delivered until now.
	return r.service.config.Store.Give(ctx, r.market, r.service.config.Holder, r.service.config.Now())
}

// due returns a channel that gets a value at the market's next change by time.
func (r *room) due() <-chan time.Time {
	at := r.log.Book.Market().Due()
	if at.IsZero() {
		return nil
	}
	return time.After(at.Sub(r.service.config.Now()))
}

// pass delivers the events of the time until now.
func (r *room) pass() error {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.passLocked()
}

func (r *room) passLocked() error {
	now, err := r.now()
	if err != nil {
		return err
	}
	events, err := r.log.Book.Pass(now.UTC())
	if err != nil {
		return err
	}
	r.deliver(events)
	return nil
}

// collect returns a request and the requests queued behind it.
func (r *room) collect(first request) []request {
	all := []request{first}
	for len(all) < batch {
		select {
		case next := <-r.requests:
			all = append(all, next)
		default:
			return all
		}
	}
	return all
}

// accept applies messages and stores them together; then it delivers their events and answers. An error means that
// the room cannot go on.
func (r *room) accept(ctx context.Context, requests []request) error {
	answers := make([]answer, len(requests))
	var fresh []arena.Entry
	var events []arena.Event
	fail := func(err error) {
		for i := range answers {
			if answers[i].err == nil {
				answers[i] = answer{err: err}
			}
		}
	}
	defer func() {
		for i, request := range requests {
			request.answer <- answers[i]
		}
	}()
	now, err := r.now()
	if err != nil {
		fail(ErrStopped)
		return err
	}
	for i, request := range requests {
		var salt [arena.SaltSize]byte
		_, _ = rand.Read(salt[:]) // it never returns an error
		book, agent := r.log.Book, request.message.Agent()
		before := book.Next(agent)
		entry, more, err := book.Enter(request.message, now, salt)
		events = append(events, more...)
		var refusal *arena.Refusal
		switch {
		case errors.As(err, &refusal):
			answers[i].err = refusal
			continue
		case err != nil:
			fail(ErrStopped)
			return err
		}
		if book.Next(agent) != before {
			fresh = append(fresh, entry)
		}
		if answers[i].receipt, err = arena.ReceiptFor(r.service.config.Key, entry); err != nil {
			answers[i].err = err
		}
	}
	if err := r.service.config.Store.Append(ctx, r.log, r.service.config.Holder, fresh...); err != nil {
		fail(fmt.Errorf("%w: %w", ErrUnknown, err))
		if errors.Is(err, store.ErrLost) {
			return err
		}
		// The book is ahead of the log, or the log contains entries not confirmed by the commit.
		r.service.config.Log.WarnContext(ctx, "messages not stored", "market", r.market, "error", err)
		return r.load(ctx)
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.deliver(events)
	return nil
}

// deliver numbers events for each recipient, and pushes new events to the streams. The caller holds the lock.
func (r *room) deliver(events []arena.Event) {
	for _, event := range events {
		if len(event.To) == 0 {
			shown := r.public.add(event)
			for stream := range r.spectators {
				stream.push(shown, shown.Number)
			}
		}
		if joined, is := event.Fact.(arena.Joined); is {
			r.agents[joined.Agent] = &past{}
		}
		recipients := event.To
		if len(recipients) == 0 {
			for agent := range r.agents {
				recipients = append(recipients, agent)
			}
		}
		for _, agent := range recipients {
			shown := r.agents[agent].add(event)
			if stream := r.streams[agent]; stream != nil {
				stream.push(shown, shown.Number)
			}
		}
	}
}

// follow returns a stream with an agent's events after the given number, or the public events if agent is
// empty.
func (r *room) follow(agent string, arrived Arrival, after uint64) (*Stream, error) {
	r.lock.Lock()
	defer r.lock.Unlock()
	from := &r.public
	if agent != "" {
		if from = r.agents[agent]; from == nil {
			return nil, &arena.Refusal{Code: arena.CodeUnknown, Text: "agent: has not joined"}
		}
	}
	if r.closed {
		return nil, ErrStopped
	}
	old := r.streams[agent]
	if old != nil && old.arrived > arrived {
		return nil, ErrReplaced
	}
	events, err := from.since(after)
	if err != nil {
		return nil, err
	}
	stream := newStream(after + 1)
	stream.arrived = arrived
	for _, event := range events {
		stream.push(event, event.Number)
	}
	if agent == "" {
		r.spectators[stream] = true
		return stream, nil
	}
	if old != nil {
		old.end(ErrReplaced)
	}
	r.streams[agent] = stream
	return stream, nil
}

// unfollow removes a stream.
func (r *room) unfollow(agent string, stream *Stream) {
	r.lock.Lock()
	defer r.lock.Unlock()
	delete(r.spectators, stream)
	if r.streams[agent] == stream {
		delete(r.streams, agent)
	}
	stream.end(ErrStopped)
}

// close ends all streams. Queued requests observe that gone is closed.
func (r *room) close() {
	r.lock.Lock()
	r.closed = true
	for _, stream := range r.streams {
		stream.end(ErrStopped)
	}
	for stream := range r.spectators {
		stream.end(ErrStopped)
	}
	r.lock.Unlock()
	close(r.gone)
}
