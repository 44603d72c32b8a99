package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// The paths of [Metrics.Handler].
const (
	MetricsPath   = "/metrics"
	LivenessPath  = "/healthz"
	ReadinessPath = "/readyz"
)

// readyLimit ends the readiness check.
const readyLimit = 2 * time.Second

// Handler returns the handler of [MetricsPath], [LivenessPath] and [ReadinessPath].
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET "+MetricsPath, promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		// Process metrics are reported even if the database does not respond.
		ErrorHandling: promhttp.ContinueOnError,
		ErrorLog:      slog.NewLogLogger(m.config.Logger.Handler(), slog.LevelError),
	}))
	mux.HandleFunc("GET "+LivenessPath, func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, Health{Status: "alive"})
	})
	mux.HandleFunc("GET "+ReadinessPath, func(w http.ResponseWriter, r *http.Request) {
		if problem := m.problem(r.Context()); problem != "" {
			answer(w, http.StatusServiceUnavailable, Health{Status: "not ready", Problem: problem})
			return
		}
		answer(w, http.StatusOK, Health{Status: "ready"})
	})
	return mux
}

// Health is returned by [LivenessPath] and [ReadinessPath].
type Health struct {
	// Status is alive, ready or not ready.
	Status string `json:"status"`
	// Problem is the reason why the process is not ready.
	Problem string `json:"problem,omitempty"`
}

// Stopping makes the readiness check fail, so that a load balancer sends no further requests.
func (m *Metrics) Stopping() { m.stopping.Store(true) }

// problem returns the reason why the process cannot serve requests; empty if it can. The log contains the
// whole error, which can name the database server.
func (m *Metrics) problem(ctx context.Context) string {
	if m.stopping.Load() {
		return "process: stopping"
	}
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	err := m.config.Store.Ready(ctx)
	if err == nil {
		return ""
	}
	m.config.Logger.Error("not ready", "error", err)
	for _, schema := range []error{store.ErrNoGateway, store.ErrOldSchema, store.ErrVersion} {
		if errors.Is(err, schema) {
			return "database: " + schema.Error()
		}
	}
	return "database: no answer"
}

func answer(w http.ResponseWriter, status int, h Health) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(h) // the client has closed the connection
}
