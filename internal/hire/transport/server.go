package transport

import (
	"cmp"
	"log/slog"
	"net/http"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"golang.org/x/sync/semaphore"

	"github.com/haggle-protocol/haggle/internal/hire/a2a"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// HealthPath serves the health check.
const HealthPath = "/healthz"

// Connection limits.
const (
	headerTimeout = 5 * time.Second
	readTimeout   = 15 * time.Second
	writeTimeout  = 30 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 16 << 10
	// transferTimeout bounds a delivery's transfer.
	transferTimeout = time.Minute
	// eventTimeout bounds the write of a single event or log entry.
	eventTimeout = 10 * time.Second
	// maxTransfers limits concurrent deliveries.
	maxTransfers = 8
	// defaultHeartbeat is how often comments are sent in quiet streams, to let both sides notice a lost
	// connection.
	defaultHeartbeat = 15 * time.Second
)

// Config describes a home's server. Service, Origin and Card are required.
type Config struct {
	Service *service.Service
	// Origin is the home's id. Signed requests must target this host.
	Origin string
	// Card is the home's signed card in canonical form: see [hire.SignCard].
	Card []byte
	// TaskSecret makes the ids of tasks unguessable, at least 32 bytes: see package a2a. If nil, A2A is not served.
	TaskSecret []byte
	// Heartbeat is how often comments are sent in quiet streams. If 0, 15 s is used.
	Heartbeat time.Duration
	// Log receives problems. If nil, slog.Default is used.
	Log *slog.Logger
}

// handler serves a home's requests.
type handler struct {
	Config
	transfers *semaphore.Weighted
	tasks     *a2a.Binding
}

// NewServer returns a server with time limits for slow clients. Shutdown ends all streams and waits for the
// remaining requests. NewServer returns an error unless the card belongs to the origin.
func NewServer(config Config) (*http.Server, error) {
	card, err := hire.ParseCard(config.Card, config.Origin)
	if err != nil {
		return nil, err
	}
	config.Log = cmp.Or(config.Log, slog.Default())
	config.Heartbeat = cmp.Or(config.Heartbeat, defaultHeartbeat)
	h := &handler{Config: config, transfers: semaphore.NewWeighted(maxTransfers)}
	if config.TaskSecret != nil {
		if h.tasks, err = a2a.New(a2a.Config{
			Service: config.Service, Card: card, Secret: config.TaskSecret, Log: config.Log,
		}); err != nil {
			return nil, err
		}
	}
	server := &http.Server{
		Handler: h.mux(), ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ErrorLog: slog.NewLogLogger(config.Log.Handler(), slog.LevelWarn),
	}
	server.RegisterOnShutdown(config.Service.EndStreams)
	if h.tasks != nil {
		server.RegisterOnShutdown(h.tasks.End)
	}
	return server, nil
}

func (h *handler) mux() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+hire.CardPath, h.card)
	mux.Handle(hire.InboxPath, hire.Inbox(h.Service.Receive, h.Log))
	mux.HandleFunc("GET "+hire.EventsPath, h.signed(h.events, "after"))
	mux.HandleFunc("GET "+hire.ConversationsPath, h.signed(h.conversations, "open", "session", "after"))
	mux.HandleFunc("GET "+hire.LogPath, h.signed(h.log, "conversation_id", "seeker"))
	mux.HandleFunc("PUT "+hire.DeliveriesPath+"{hash}", h.signed(h.deliver, "conversation_id", "seeker"))
	mux.HandleFunc("GET "+hire.DeliveriesPath+"{hash}", h.signed(h.delivery))
	mux.HandleFunc("GET "+HealthPath, h.health)
	if h.tasks != nil {
		mux.HandleFunc("GET "+a2asrv.WellKnownAgentCardPath, h.tasks.ServeCard)
		mux.HandleFunc("POST "+a2a.Path, func(w http.ResponseWriter, r *http.Request) {
			h.tasks.ServeHTTP(timed(w, writeTimeout), r)
		})
	}
	return mux
}

func (h *handler) card(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(h.Card)
}

func (h *handler) health(w http.ResponseWriter, r *http.Request) {
	if err := h.Service.Ready(r.Context()); err != nil {
		h.Log.ErrorContext(r.Context(), "not ready", "error", err)
		http.Error(w, "database: no response", http.StatusServiceUnavailable)
		return
	}
	_, _ = w.Write([]byte("ready\n"))
}
