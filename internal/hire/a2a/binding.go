package a2a

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/haggle-protocol/haggle/internal/hire/service"
	"github.com/haggle-protocol/haggle/sdk/hire"
)

// Path is the path of the JSON-RPC endpoint at the home's origin.
const Path = "/hire/a2a"

const (
	// maxRequest is the size of a request in bytes: a message with escaped characters, and its envelope.
	maxRequest = 2*hire.MaxSize + 4096
	// writeTimeout bounds each write, so that a slow reader keeps no connection.
	writeTimeout = 30 * time.Second
)

// Config describes a binding. Service, Card and Secret are required.
type Config struct {
	Service *service.Service
	// Card is the home's card of HIRE. Its id is the origin.
	Card *hire.Card
	// Secret makes the ids of tasks unguessable, at least 32 bytes. All servers of a home have the same one.
	Secret []byte
	// Log receives problems. If nil, slog.Default is used.
	Log *slog.Logger
}

// Binding serves A2A for a home.
type Binding struct {
	config Config
	card   []byte
	waits  *waits
}

// New returns a binding.
func New(config Config) (*Binding, error) {
	if len(config.Secret) < 32 {
		return nil, errors.New("hire: A2A: secret shorter than 32 bytes")
	}
	config.Log = cmp.Or(config.Log, slog.Default())
	card, err := cardOf(config.Card)
	return &Binding{config: config, card: card, waits: newWaits()}, err
}

// End ends the requests that wait.
func (b *Binding) End() { b.waits.close() }

// Register adds the binding's paths to a home's.
func (b *Binding) Register(mux *http.ServeMux) {
	mux.HandleFunc("GET "+a2asrv.WellKnownAgentCardPath, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		_, _ = w.Write(b.card)
	})
	rpc := a2asrv.NewJSONRPCHandler(b, a2asrv.WithTransportKeepAlive(15*time.Second))
	mux.HandleFunc("POST "+Path, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			http.Error(w, "request too large, or incomplete", http.StatusRequestEntityTooLarge)
			return
		}
		// The server's own limits are shorter than a wait.
		control := http.NewResponseController(w)
		if err := control.SetReadDeadline(time.Time{}); err != nil {
			http.Error(w, "not served", http.StatusInternalServerError)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		rpc.ServeHTTP(&timedWriter{w, control}, r)
	})
}

// timedWriter has a time limit for each write, in place of one for the whole response.
type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
}

func (t *timedWriter) Write(content []byte) (int, error) {
	if err := t.control.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return 0, err
	}
	return t.ResponseWriter.Write(content)
}

// Flush is what a stream's writer looks for.
func (t *timedWriter) Flush() { _ = t.control.Flush() }
