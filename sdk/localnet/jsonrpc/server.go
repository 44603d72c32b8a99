package jsonrpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// Request limits.
const (
	maxRequestBytes = 1 << 20
	maxBatch        = 100
)

// Server serves requests about a ledger. It is an http.Handler.
type Server struct {
	ledger *ledger.Ledger
	hub    *hub
	faults faults
	memory *memory
	http   []*http.Server
	tasks  sync.WaitGroup
	ctx    context.Context
	stop   context.CancelFunc
}

// New returns a server for a ledger. Close stops the server, but does not close the ledger.
func New(l *ledger.Ledger) *Server {
	ctx, stop := context.WithCancel(context.Background())
	s := &Server{ledger: l, hub: newHub(l), memory: newMemory(), ctx: ctx, stop: stop}
	s.tasks.Go(func() { s.hub.run(ctx) })
	s.serve(s.memory, s)
	return s
}

// Run closes a block per interval until Close, in a new goroutine.
func (s *Server) Run(interval time.Duration) {
	s.tasks.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-s.ctx.Done():
				return
			case <-ticker.C:
				if s.ledger.NextBlock() != nil {
					return // the engine is closed
				}
			}
		}
	})
}

// Endpoints holds a listening server's addresses.
type Endpoints struct{ RPC, WS string }

// listenAttempts is the number of attempts to find two neighbouring free ports.
const listenAttempts = 50

// Listen serves JSON-RPC at a port of 127.0.0.1 and WebSockets at the following port, as Solana's tools
// expect. If port is zero, it chooses free ports. Close stops both. Do not call it during or after Close.
func (s *Server) Listen(port int) (Endpoints, error) {
	if s.ctx.Err() != nil {
		return Endpoints{}, http.ErrServerClosed
	}
	for attempt := 1; ; attempt++ {
		first, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
		if err != nil {
			return Endpoints{}, err
		}
		chosen := first.Addr().(*net.TCPAddr).Port
		second, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(chosen+1)))
		if err == nil {
			s.serve(first, http.HandlerFunc(s.serveFaulty))
			s.serve(second, http.HandlerFunc(s.serveWebSocket))
			return Endpoints{fmt.Sprintf("http://127.0.0.1:%d", chosen), fmt.Sprintf("ws://127.0.0.1:%d", chosen+1)}, nil
		}
		_ = first.Close()
		if port != 0 || attempt == listenAttempts {
			return Endpoints{}, err
		}
	}
}

func (s *Server) serve(listener net.Listener, handler http.Handler) {
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	s.http = append(s.http, server)
	s.tasks.Go(func() { _ = server.Serve(listener) })
}

// Close stops the listeners, ends every connection and waits for them.
func (s *Server) Close() error {
	s.stop()
	var err error
	for _, server := range s.http {
		err = errors.Join(err, server.Close())
	}
	s.hub.closeConnections()
	s.tasks.Wait()
	return err
}

// ServeHTTP serves a request or batch, or upgrades the connection to a WebSocket. Listen opens a further port
// for WebSockets, as nodes do.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if websocket.IsWebSocketUpgrade(r) {
		s.serveWebSocket(w, r)
		return
	}
	s.serveFaulty(w, r)
}

func (s *Server) serveRequests(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/health" {
		w.Header()["Content-Type"] = nil // nodes send none
		_, _ = w.Write([]byte("ok"))
		return
	}
	if r.Method != http.MethodPost {
		http.Error(w, "Used HTTP Method is not allowed. POST or OPTIONS is required", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequestBytes))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			http.Error(w, "request too large", http.StatusRequestEntityTooLarge)
		}
		return
	}
	if !json.Valid(body) {
		reply(w, &response{err: parseError})
		return
	}
	raw := json.RawMessage(bytes.TrimSpace(body))
	if raw[0] != '[' {
		if single := s.answer(raw); single != nil {
			reply(w, single)
		} else {
			replyNothing(w)
		}
		return
	}
	s.serveBatch(w, raw)
}

// serveBatch serves a batch. Notifications receive no response. Arrays containing anything but requests are
// not batches.
func (s *Server) serveBatch(w http.ResponseWriter, raw json.RawMessage) {
	var batch []json.RawMessage
	if err := json.Unmarshal(raw, &batch); err != nil || len(batch) > maxBatch {
		reply(w, &response{err: invalidRequest})
		return
	}
	for _, request := range batch {
		if _, err := parseRequest(request); err == parseError {
			reply(w, &response{err: parseError})
			return
		}
	}
	var answers []*response
	for _, request := range batch {
		if answer := s.answer(request); answer != nil {
			answers = append(answers, answer)
		}
	}
	if answers != nil {
		reply(w, answers)
	} else {
		replyNothing(w)
	}
}

// replyNothing sends no response.
func replyNothing(w http.ResponseWriter) { w.Header().Set("Content-Type", "application/json") }

func reply(w http.ResponseWriter, answer any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}
