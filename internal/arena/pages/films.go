package pages

import (
	"context"
	"sync"
	"time"
)

const (
	// maxFilms is the largest number of films.
	maxFilms = 64
	// keepUnused is how long a film stays when it has no spectators; keepBusy applies if all places are
	// taken.
	keepUnused = time.Minute
	keepBusy   = time.Second
	// loadWithin limits the time to read a market's history.
	loadWithin = 20 * time.Second
)

// loading is a film, loaded or being loaded.
type loading struct {
	once sync.Once
	film *film
	err  error
	end  context.CancelFunc
}

// film returns a market's film. The first request loads it.
func (s *Server) film(ctx context.Context, market string) (*film, error) {
	known, err := s.place(ctx, market)
	if err != nil {
		return nil, err
	}
	known.once.Do(func() { s.open(market, known) })
	if known.err == nil {
		known.film.use()
	}
	return known.film, known.err
}

// place returns the place for a market's film. Nonexistent markets take none.
func (s *Server) place(ctx context.Context, market string) (*loading, error) {
	s.lock.Lock()
	known := s.films[market]
	s.lock.Unlock()
	if known != nil {
		return known, nil
	}
	if _, _, err := s.config.Store.Holder(ctx, market); err != nil {
		return nil, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if known = s.films[market]; known != nil {
		return known, nil // another request was first
	}
	if len(s.films) >= maxFilms && !s.endUnused() {
		return nil, errFull
	}
	known = &loading{}
	s.films[market] = known
	return known, nil
}

// endUnused ends a film that nobody watches, and reports whether there was any. The caller holds the lock.
func (s *Server) endUnused() bool {
	for id, other := range s.films {
		if other.film != nil && other.film.unused(keepBusy) {
			other.end()
			delete(s.films, id)
			return true
		}
	}
	return false
}

func (s *Server) open(market string, known *loading) {
	ctx, cancel := context.WithTimeout(s.ctx, loadWithin)
	defer cancel()
	loaded, err := s.load(ctx, market)
	running, end := context.WithCancel(s.ctx)
	s.lock.Lock()
	known.film, known.err, known.end = loaded, err, end
	if err != nil {
		end()
		delete(s.films, market)
	}
	s.lock.Unlock()
	if err != nil {
		return
	}
	go func() {
		loaded.run(running, s.config.Service, s.keepFilm)
		s.lock.Lock()
		defer s.lock.Unlock()
		if s.films[market] == known {
			delete(s.films, market)
		}
	}()
}
