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

// Path locates the JSON-RPC endpoint at the home's origin.
const Path = "/hire/a2a"

// maxRequest limits a request in bytes: a fully escaped message plus the envelope.
const maxRequest = 2*hire.MaxSize + 4096

// Config describes a binding. Service, Card and Secret are required.
type Config struct {
	Service *service.Service
	// Card is the home's HIRE card. Its id is the origin.
	Card *hire.Card
	// Secret makes task ids unguessable: at least 32 bytes, identical on all servers for a home.
	Secret []byte
	// Log receives problems. If nil, slog.Default is used.
	Log *slog.Logger
}

// Binding serves A2A for a home.
type Binding struct {
	config Config
	card   []byte
	rpc    http.Handler
	waits  *waits
}

// New returns a binding.
func New(config Config) (*Binding, error) {
	if len(config.Secret) < 32 {
		return nil, errors.New("hire: A2A: secret shorter than 32 bytes")
	}
	config.Log = cmp.Or(config.Log, slog.Default())
	card, err := cardOf(config.Card)
	b := &Binding{config: config, card: card, waits: newWaits()}
	b.rpc = a2asrv.NewJSONRPCHandler(b, a2asrv.WithTransportKeepAlive(15*time.Second))
	return b, err
}

// End ends all waiting requests.
func (b *Binding) End() { b.waits.close() }

// ServeCard serves the A2A card.
func (b *Binding) ServeCard(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", mediaType)
	_, _ = w.Write(b.card)
}

// ServeHTTP serves the requests to [Path]. It may take minutes: w limits the time for each write.
func (b *Binding) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, "request too large, or incomplete", http.StatusRequestEntityTooLarge)
		return
	}
	// The server's own limit is shorter than a wait.
	if err := http.NewResponseController(w).SetReadDeadline(time.Time{}); err != nil {
		http.Error(w, "not served", http.StatusInternalServerError)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	b.rpc.ServeHTTP(w, r)
}
