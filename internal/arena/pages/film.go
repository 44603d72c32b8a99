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
	// frameEvery is the shortest time between two versions of a page.
	frameEvery = 250 * time.Millisecond
	// again is the pause after which a film follows a market again.
	again = time.Second
)

// film is the history of a market, from its beginning, and goes on as it happens.
type film struct {
	lock   sync.Mutex
	config arena.Config
	events []arena.Shown
	scene  *scene
	parts  map[string]string
	// changed is closed at the next version of the parts.
	changed chan struct{}
	// viewers is the number of pages that follow, and idle the time since when there are none.
	viewers int
	idle    time.Time
	live    bool
}

// load reads the history from the store.
func (s *Server) load(ctx context.Context, market string) (*film, error) {
	f := &film{changed: make(chan struct{}), idle: time.Now(), live: s.config.Service.Runs(market)}
	number := uint64(0)
	var events []arena.Shown
	log, err := s.config.Store.Load(ctx, market, func(more []arena.Event) {
		for _, event := range more {
			if len(event.To) == 0 {
				number++
				events = append(events, arena.Shown{Number: number, At: event.At, Fact: event.Fact})
			}
		}
	})
	if err != nil {
		return nil, err
	}
	f.config = log.Book.Market().View().Config
	f.scene = newScene(f.config)
	f.add(events)
	return f, f.render(ctx)
}

// add adds events that follow.
func (f *film) add(events []arena.Shown) {
	for _, event := range events {
		f.events = append(f.events, event)
		f.scene.observe(event)
	}
}

// at returns the scene after a number of events. It replays them.
func (f *film) at(number int) *scene {
	f.lock.Lock()
	events := f.events[:min(max(number, 0), len(f.events))]
	f.lock.Unlock()
	s := newScene(f.config)
	s.Replayed = true
	for _, event := range events {
		s.observe(event)
	}
	return s
}

// length returns the number of events.
func (f *film) length() int {
	f.lock.Lock()
	defer f.lock.Unlock()
	return len(f.events)
}

// run follows the market until the context ends.
func (f *film) run(ctx context.Context, s *service.Service) {
	for ctx.Err() == nil {
		err := f.follow(ctx, s)
		f.setLive(ctx, false)
		if errors.Is(err, service.ErrGone) {
			return // the server loads it again
		}
		select {
		case <-ctx.Done():
		case <-time.After(again):
		}
	}
}

func (f *film) follow(ctx context.Context, s *service.Service) error {
	stream, end, err := s.Follow(f.config.Market, "", uint64(f.length()))
	if err != nil {
		return err
	}
	defer end()
	f.setLive(ctx, true)
	for {
		var events []arena.Shown
		select {
		case event := <-stream.Events():
			events = append(events, event)
		case <-stream.Done():
			return stream.Err()
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		// Events soon after it belong to the same version.
		for soon := time.After(frameEvery); soon != nil; {
			select {
			case event := <-stream.Events():
				events = append(events, event)
			case <-soon:
				soon = nil
			}
		}
		f.lock.Lock()
		f.add(events)
		err := f.render(ctx)
		f.lock.Unlock()
		if err != nil {
			return err
		}
	}
}

func (f *film) setLive(ctx context.Context, live bool) {
	f.lock.Lock()
	defer f.lock.Unlock()
	if f.live != live {
		f.live = live
		_ = f.render(ctx) // it writes to memory
	}
}

// render writes the parts of the page, and wakes the viewers. It needs the lock.
func (f *film) render(ctx context.Context) error {
	parts, err := f.scene.render(ctx, f.live)
	if err != nil {
		return err
	}
	f.parts = parts
	close(f.changed)
	f.changed = make(chan struct{})
	return nil
}

// now returns the parts of the page, and a channel that is closed at the next version.
func (f *film) now() (parts map[string]string, changed <-chan struct{}) {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.parts, f.changed
}

// view counts a viewer until left is called.
func (f *film) view() (left func()) {
	f.lock.Lock()
	f.viewers++
	f.lock.Unlock()
	return func() {
		f.lock.Lock()
		defer f.lock.Unlock()
		f.viewers--
		f.idle = time.Now()
	}
}

// unused reports whether there were no viewers for a time.
func (f *film) unused(since time.Duration) bool {
	f.lock.Lock()
	defer f.lock.Unlock()
	return f.viewers == 0 && time.Since(f.idle) > since
}
