package pages

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/haggle-protocol/haggle/internal/arena/service"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

const (
	// frameEvery is the shortest interval between page versions.
	frameEvery = 250 * time.Millisecond
	// again is the pause until a film follows a market again, and giveUp is when to stop trying.
	again  = time.Second
	giveUp = 10 * time.Second
	// settled is the event age at which earlier messages can no longer arrive.
	settled = 5 * time.Second
)

// film is a market's history from the beginning, continued as it happens.
type film struct {
	config arena.Config
	// scene and live belong to the goroutine of run.
	scene *scene
	live  bool
	// ended is closed once the film no longer goes on. A new one can.
	ended chan struct{}

	lock   sync.Mutex
	events []arena.Shown
	parts  map[string]string
	// changed is closed at the next version of the parts.
	changed chan struct{}
	// spectators is the number of pages that follow, and used the time when a page has last asked for it.
	spectators int
	used       time.Time
}

// load reads the history from the store.
func (s *Server) load(ctx context.Context, market string) (*film, error) {
	f := &film{changed: make(chan struct{}), used: time.Now(), live: s.config.Service.Runs(market), ended: make(chan struct{})}
	number := uint64(0)
	var events []arena.Shown
	add := func(more []arena.Event) error {
		for _, event := range more {
			if len(event.To) == 0 {
				number++
				events = append(events, arena.Shown{Number: number, At: event.At, Fact: event.Fact})
			}
		}
		return nil
	}
	log, err := s.config.Store.Load(ctx, market, add)
	if err != nil {
		return nil, err
	}
	// Events of time are not stored. Those of the latest seconds depend on messages that are on their way to the store.
	if more, err := log.Book.Pass(time.Now().UTC().Add(-settled)); err == nil {
		_ = add(more)
	}
	f.config = log.Book.Market().View().Config
	f.scene = newScene(f.config)
	return f, f.add(ctx, events...)
}

// add adds events that follow, writes the parts of the page, and wakes the spectators. The lock is free meanwhile.
func (f *film) add(ctx context.Context, events ...arena.Shown) error {
	for _, event := range events {
		f.scene.observe(event)
	}
	parts, err := f.scene.render(ctx, f.live)
	if err != nil {
		return err
	}
	f.lock.Lock()
	defer f.lock.Unlock()
	f.events, f.parts = append(f.events, events...), parts
	close(f.changed)
	f.changed = make(chan struct{})
	return nil
}

// at returns the scene after the given number of events. It replays them.
func (f *film) at(ctx context.Context, number int) (*scene, error) {
	f.lock.Lock()
	events := f.events[:min(max(number, 0), len(f.events))]
	f.lock.Unlock()
	s := newScene(f.config)
	s.Replayed = true
	for i, event := range events {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s.observe(event)
	}
	return s, nil
}

// length returns the number of events.
func (f *film) length() int {
	f.lock.Lock()
	defer f.lock.Unlock()
	return len(f.events)
}

// run follows the market until the context ends, or until this process does not run the market for a time, or nobody
// watches the film.
func (f *film) run(ctx context.Context, s *service.Service, keep time.Duration) {
	defer close(f.ended)
	followed := time.Now()
	for ctx.Err() == nil && time.Since(followed) < giveUp {
		err := f.follow(ctx, s, keep)
		if f.setLive(ctx, false) {
			followed = time.Now()
		}
		if errors.Is(err, service.ErrGone) || errors.Is(err, errUnused) {
			return // it is too far behind, or not needed
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

func (f *film) follow(ctx context.Context, s *service.Service, keep time.Duration) error {
	stream, end, err := s.Follow(f.config.Market, "", 0, uint64(f.length()))
	if err != nil {
		return err
	}
	defer end()
	f.setLive(ctx, true)
	check := time.NewTicker(keep / 4)
	defer check.Stop()
	for {
		var events []arena.Shown
		select {
		case event := <-stream.Events():
			events = append(events, event)
		case <-check.C:
			if f.unused(keep) {
				return errUnused
			}
			continue
		case <-stream.Done():
			return stream.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		// Events that follow soon belong to the same version.
		for soon := time.After(frameEvery); soon != nil; {
			select {
			case event := <-stream.Events():
				events = append(events, event)
			case <-soon:
				soon = nil
			}
		}
		if err := f.add(ctx, events...); err != nil {
			return err
		}
	}
}

// setLive sets live and reports whether it changed.
func (f *film) setLive(ctx context.Context, live bool) (changed bool) {
	if changed = f.live != live; changed {
		f.live = live
		_ = f.add(ctx) // it writes to memory
	}
	return changed
}

// now returns the page parts, and a channel closed at the next version.
func (f *film) now() (parts map[string]string, changed <-chan struct{}) {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.parts, f.changed
}

// view counts a spectator until left is called.
func (f *film) view() (left func()) {
	f.lock.Lock()
	f.spectators++
	f.lock.Unlock()
	return func() {
		f.lock.Lock()
		defer f.lock.Unlock()
		f.spectators--
		f.used = time.Now()
	}
}

// use records that a page has requested the film.
func (f *film) use() {
	f.lock.Lock()
	defer f.lock.Unlock()
	f.used = time.Now()
}

// unused reports whether there were no spectators for a time.
func (f *film) unused(since time.Duration) bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.spectators == 0 && time.Since(f.used) > since
}
