package service

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/haggle-protocol/haggle/internal/gateway/engine"
	"github.com/haggle-protocol/haggle/internal/gateway/identity"
)

// Watches are limited in a process, for all anonymous callers together, and for each caller.
const (
	maxWatches          = 1000
	maxAnonymousWatches = 200
	maxOwnWatches       = 8
)

// CodeLimitWatches is the code of the error for too many watches.
const CodeLimitWatches = "limit-watches"

const (
	// pollInterval is the time between two readings of a watched negotiation.
	pollInterval = time.Second
	// pollTimeout limits a reading.
	pollTimeout = 10 * time.Second
	// watchPause is how long callers wait for a place.
	watchPause = 10 * time.Second
)

// watches counts a process's watches, and holds their polls. The zero value is empty.
type watches struct {
	mutex            sync.Mutex
	total, anonymous int
	// callers counts the watches by [identity.Caller.LimitKey].
	callers map[string]int
	// polls holds the polls by negotiation id.
	polls map[string]*poll
}

// poll reads a negotiation for all watches of it. The mutex of watches protects its fields.
type poll struct {
	readers int
	stop    context.CancelFunc
	// changed is closed and replaced when current or err changes.
	changed chan struct{}
	current version
	// err ended the poll.
	err error
}

// version identifies the part of a negotiation whose changes are reported.
type version struct {
	status engine.Status
	round  int
	by     engine.Party
	terms  string
}

func versionOf(n *Negotiation) version {
	v := version{status: n.Status, round: n.Round, by: n.OfferBy}
	if n.CurrentTerms != nil {
		v.terms = string(n.CurrentTerms.Canonical())
	}
	return v
}

// Watch waits for a negotiation's changes. It is not safe for concurrent use.
type Watch struct {
	service *Service
	caller  identity.Caller
	id      string
	// poll is nil until the first wait.
	poll *poll
	// seen is the version that Next has returned; empty before.
	seen version
}

// Watch returns a watch of a negotiation. Call Close once to end it. It returns Limit if the caller or the process
// already has the maximum number of watches. [Watch.Next] checks that the caller can read the negotiation.
func (s *Service) Watch(caller identity.Caller, id string) (*Watch, error) {
	w, owner := &s.watches, caller.LimitKey()
	w.mutex.Lock()
	defer w.mutex.Unlock()
	detail := ""
	switch {
	case w.callers[owner] >= maxOwnWatches:
		detail = fmt.Sprintf("caller: %d negotiations are watched; end another watch first", maxOwnWatches)
	case w.total >= maxWatches, caller.Kind == identity.Anonymous && w.anonymous >= maxAnonymousWatches:
		detail = "gateway: too many negotiations are watched; try again later, or poll"
	}
	if detail != "" {
		return nil, &Error{Kind: Limit, Code: CodeLimitWatches, Detail: detail, RetryAfter: watchPause}
	}
	if w.callers == nil {
		w.callers = map[string]int{}
	}
	w.total++
	if caller.Kind == identity.Anonymous {
		w.anonymous++
	}
	w.callers[owner]++
	return &Watch{service: s, caller: caller, id: id}, nil
}

// Next returns the negotiation as [Service.Status] does: the first time immediately, then after the status, the
// round, the newest offer or AnswerPending has changed. Changes within a second can be returned as one. If nothing
// changes within the given time, changed is false. Errors are those of [Service.Status], and ctx's.
func (w *Watch) Next(ctx context.Context, within time.Duration) (d Details, changed bool, err error) {
	defer translate(&err)
	if w.seen == (version{}) {
		d, err = w.service.Status(ctx, w.caller, w.id)
		w.seen = versionOf(&d.Negotiation)
		return d, err == nil, err
	}
	if w.poll == nil {
		w.poll = w.service.startPoll(ctx, w.id)
	}
	end := time.NewTimer(within)
	defer end.Stop()
	for {
		current, next, err := w.service.watches.read(w.poll)
		if err != nil {
			return d, false, err
		}
		if current != (version{}) && current != w.seen {
			if d, err = w.service.Status(ctx, w.caller, w.id); err != nil {
				return d, false, err
			}
			// The poll can be behind.
			if newest := versionOf(&d.Negotiation); newest != w.seen {
				w.seen = newest
				return d, true, nil
			}
		}
		select {
		case <-next:
		case <-end.C:
			return d, false, nil
		case <-ctx.Done():
			return d, false, ctx.Err()
		}
	}
}

// Check returns the error of [Service.Status] if the caller can no longer read the negotiation.
func (w *Watch) Check(ctx context.Context) (err error) {
	defer translate(&err)
	_, err = w.service.readable(ctx, w.caller, w.id)
	return err
}

// Close ends the watch.
func (w *Watch) Close() {
	all, owner := &w.service.watches, w.caller.LimitKey()
	all.mutex.Lock()
	defer all.mutex.Unlock()
	all.total--
	if w.caller.Kind == identity.Anonymous {
		all.anonymous--
	}
	if all.callers[owner]--; all.callers[owner] == 0 {
		delete(all.callers, owner)
	}
	if w.poll == nil {
		return
	}
	if w.poll.readers--; w.poll.readers > 0 {
		return
	}
	w.poll.stop()
	if all.polls[w.id] == w.poll {
		delete(all.polls, w.id)
	}
}

// read returns the poll's state, and a channel that is closed when it changes.
func (w *watches) read(p *poll) (version, <-chan struct{}, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return p.current, p.changed, p.err
}

// startPoll returns the poll of a negotiation for a further reader, and starts it for the first one. The poll has
// ctx's values, and ends with the last reader.
func (s *Service) startPoll(ctx context.Context, id string) *poll {
	w := &s.watches
	w.mutex.Lock()
	defer w.mutex.Unlock()
	p := w.polls[id]
	if p == nil {
		p = &poll{changed: make(chan struct{})}
		if w.polls == nil {
			w.polls = map[string]*poll{}
		}
		w.polls[id] = p
		ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
		go s.run(ctx, p, id)
	}
	p.readers++
	return p
}

// run reads a negotiation until the context ends or a reading fails.
func (s *Service) run(ctx context.Context, p *poll, id string) {
	pause := time.NewTicker(pollInterval)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		current, err := s.version(ctx, id)
		s.watches.mutex.Lock()
		if err != nil || current != p.current {
			p.current, p.err = current, err
			close(p.changed)
			p.changed = make(chan struct{})
		}
		if err != nil && s.watches.polls[id] == p {
			delete(s.watches.polls, id)
		}
		s.watches.mutex.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *Service) version(ctx context.Context, id string) (version, error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	n, err := s.store.Negotiation(ctx, id)
	if err != nil {
		return version{}, err
	}
	view, err := s.view(ctx, n)
	return versionOf(&view), err
}
