package pages

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/a-h/templ"
	"golang.org/x/sync/semaphore"

	"github.com/haggle-protocol/haggle/internal/arena/service"
	"github.com/haggle-protocol/haggle/internal/arena/store"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

const (
	// DefaultSpectators is the largest number of pages that follow markets.
	DefaultSpectators = 1024
	// replays limits concurrent replays, and replayWithin the time for each.
	replays      = 2
	replayWithin = 10 * time.Second
	// keepList is how long the market list is cached, and listed limits the list length.
	keepList = time.Second
	listed   = 1000
	// writeWithin limits the time to write a page version.
	writeWithin = 10 * time.Second
	// keepAlive is the time between comments on a silent connection.
	keepAlive = 15 * time.Second
)

// Config describes a server. Store and Service are required.
type Config struct {
	Store   *store.Store
	Service *service.Service
	// Spectators limits the pages that follow markets. If 0, [DefaultSpectators] is used.
	Spectators int
	// Log receives problems. If nil, slog.Default is used.
	Log *slog.Logger
}

// Server serves the pages: GET /markets, and under this path /{market}, /{market}/events and
// /{market}/replay.
type Server struct {
	config Config
	ctx    context.Context
	free   *semaphore.Weighted
	// replaying limits replays, which need a processor.
	replaying *semaphore.Weighted
	// keepFilm is keepUnused, but in tests.
	keepFilm time.Duration
	lock     sync.Mutex
	films    map[string]*loading

	listing  sync.Mutex
	entries  []entry
	listedAt time.Time
}

// New returns a server, which follows markets until the context ends.
func New(ctx context.Context, config Config) *Server {
	config.Spectators = cmp.Or(config.Spectators, DefaultSpectators)
	config.Log = cmp.Or(config.Log, slog.Default())
	return &Server{
		config: config, ctx: ctx, free: semaphore.NewWeighted(int64(config.Spectators)), films: map[string]*loading{},
		replaying: semaphore.NewWeighted(replays), keepFilm: keepUnused,
	}
}

// Register adds the paths to a mux.
func (s *Server) Register(mux *http.ServeMux) {
	for path, handle := range map[string]http.HandlerFunc{
		"GET /markets": s.list, "GET /markets/{market}": s.market, "GET /markets/{market}/events": s.events,
		"GET /markets/{market}/replay": s.replay, "GET /assets/{name}": serveAsset,
		"GET /{$}": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/markets", http.StatusFound) },
	} {
		mux.HandleFunc(path, protected(handle))
	}
}

// policy permits only the server's files. Text that looks like a script stays text.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

func protected(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		handle(w, r)
	}
}

// marketPath returns a market page's path.
func marketPath(id string) string { return "/markets/" + url.PathEscape(id) }

// entry is a market in the list.
type entry struct {
	ID, Title      string
	Here           bool
	Phase          arena.Phase
	Price          arena.Price
	Trades, Agents int
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	entries, err := s.markets(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.write(w, r, http.StatusOK, listPage(entries))
}

// markets returns the list of markets. It asks the running ones at most once in keepList, because they do nothing else
// meanwhile.
func (s *Server) markets(ctx context.Context) ([]entry, error) {
	s.listing.Lock()
	defer s.listing.Unlock()
	if time.Since(s.listedAt) < keepList {
		return s.entries, nil
	}
	var entries []entry
	for after := ""; len(entries) < listed; {
		ids, err := s.config.Store.Markets(ctx, after)
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			break
		}
		for _, id := range ids {
			after = id
			e := entry{ID: id, Title: clean(id)}
			if standing, err := s.config.Service.Standing(ctx, id, ""); err == nil {
				v := standing.View
				e.Title, e.Here, e.Phase, e.Price = clean(v.Config.Question), true, v.Phase, v.Price
				e.Trades, e.Agents = v.Trades, len(v.Agents)
			}
			entries = append(entries, e)
		}
	}
	s.entries, s.listedAt = entries, time.Now()
	return entries, nil
}

func (s *Server) market(w http.ResponseWriter, r *http.Request) {
	f, err := s.film(r.Context(), r.PathValue("market"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	parts, _ := f.now()
	s.write(w, r, http.StatusOK, marketPage(f.config, parts))
}

func (s *Server) replay(w http.ResponseWriter, r *http.Request) {
	f, err := s.film(r.Context(), r.PathValue("market"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	length := f.length()
	number := length
	if text := r.URL.Query().Get("event"); text != "" {
		if number, err = strconv.Atoi(text); err != nil || number < 0 {
			s.write(w, r, http.StatusBadRequest, failurePage("Bad request", "event: must be an integer from 0"))
			return
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), replayWithin)
	defer cancel()
	if err := s.replaying.Acquire(ctx, 1); err != nil {
		s.fail(w, r, errBusy)
		return
	}
	defer s.replaying.Release(1)
	scene, err := f.at(ctx, number)
	if err != nil {
		s.fail(w, r, errBusy)
		return
	}
	parts, err := scene.render(ctx, false)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if r.Header.Get("HX-Request") == "true" {
		s.write(w, r, http.StatusOK, replayParts(scene, parts))
		return
	}
	s.write(w, r, http.StatusOK, replayPage(scene, parts, length))
}

// events sends the parts of the page as they change. A slow reader skips versions.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	f, err := s.film(r.Context(), r.PathValue("market"))
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !s.free.TryAcquire(1) {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "arena: too many spectators", http.StatusServiceUnavailable)
		return
	}
	defer s.free.Release(1)
	defer f.view()()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	control := http.NewResponseController(w)
	sent := map[string]string{}
	alive := time.NewTicker(keepAlive)
	defer alive.Stop()
	for {
		parts, changed := f.now()
		text := difference(sent, parts)
		if text == "" {
			text = ":\n\n"
		}
		_ = control.SetWriteDeadline(time.Now().Add(writeWithin)) // if this fails, the server's limit remains
		if _, err := w.Write([]byte(text)); err != nil {
			return
		}
		if err := control.Flush(); err != nil {
			return
		}
		select {
		case <-changed:
		case <-alive.C:
		case <-f.ended:
			return // the browser connects again
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		}
	}
}

// difference returns the events for the parts that differ from the sent ones, and adds them to those.
func difference(sent, parts map[string]string) string {
	var text strings.Builder
	for _, part := range allParts {
		if html := parts[part.name]; sent[part.name] != html {
			sent[part.name] = html
			fmt.Fprintf(&text, "event: %s\ndata: %s\n\n", part.name, html)
		}
	}
	return text.String()
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, status int, page templ.Component) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if err := page.Render(r.Context(), w); err != nil && r.Context().Err() == nil {
		s.config.Log.WarnContext(r.Context(), "page not written", "path", r.URL.Path, "error", err)
	}
}

var (
	errFull = errors.New("arena: too many markets are watched")
	errBusy = errors.New("arena: too many replays")
	// errUnused: nobody watches the film.
	errUnused = errors.New("arena: no spectators")
)

func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case errors.Is(err, store.ErrNotFound):
		s.write(w, r, http.StatusNotFound, failurePage("No such market", "This arena has no market with this id."))
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "10")
		s.write(w, r, http.StatusServiceUnavailable, failurePage("Too many replays", "Others replay markets. Try again in some seconds."))
	case errors.Is(err, errFull):
		w.Header().Set("Retry-After", "60")
		s.write(w, r, http.StatusServiceUnavailable, failurePage("Too many markets", "Many markets are watched. Try again in a minute."))
	default:
		s.config.Log.ErrorContext(r.Context(), "page failed", "path", r.URL.Path, "error", err)
		s.write(w, r, http.StatusInternalServerError, failurePage("Failed", "The page could not be rendered. Try again."))
	}
}
