package transport

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/sync/semaphore"
	"golang.org/x/time/rate"

	"github.com/haggle-protocol/haggle/internal/arena/service"
	"github.com/haggle-protocol/haggle/sdk/arena"
)

// Connection limits.
const (
	// frameSize exceeds arena.MaxSize, leaving room for the frame.
	frameSize = arena.MaxSize + 1024
	// perSecond and burst limit a connection's messages. Further messages wait.
	perSecond = 20
	burst     = 40
	// enterWithin is the time to enter or to watch.
	enterWithin = 10 * time.Second
	// writeWithin limits the time to write a frame.
	writeWithin = 10 * time.Second
	// closeWithin limits how long a client may take to read the close reason.
	closeWithin = 5 * time.Second
	// pingEvery is the time between pings; silent is how long a connection lasts when pongs are missing.
	pingEvery = 15 * time.Second
	silent    = 40 * time.Second
)

// DefaultConnections limits the connections per process.
const DefaultConnections = 4096

// Config describes a server. Service is required.
type Config struct {
	Service *service.Service
	// Connections limits the connections of agents and spectators together: [DefaultConnections] by default.
	Connections int
	// Log receives problems. If nil, slog.Default is used.
	Log *slog.Logger
}

// Server serves each market's WebSocket: GET /arena/{market}.
type Server struct {
	config   Config
	free     *semaphore.Weighted
	upgrader websocket.Upgrader
}

// New returns a service's server.
func New(config Config) *Server {
	config.Connections = cmp.Or(config.Connections, DefaultConnections)
	config.Log = cmp.Or(config.Log, slog.Default())
	return &Server{
		config: config, free: semaphore.NewWeighted(int64(config.Connections)),
		// Frames are signed and carry no cookies, so pages of all origins may connect.
		upgrader: websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }},
	}
}

// Register adds the paths to a mux.
func (s *Server) Register(mux *http.ServeMux) { mux.HandleFunc("GET /arena/{market}", s.connect) }

// connection is an agent's WebSocket, or a spectator's if agent is empty.
type connection struct {
	server  *Server
	socket  *websocket.Conn
	market  string
	agent   string
	arrived service.Arrival
	writing sync.Mutex
}

func (s *Server) connect(w http.ResponseWriter, r *http.Request) {
	market := r.PathValue("market")
	if !s.config.Service.Runs(market) {
		http.Error(w, service.ErrStopped.Error(), http.StatusNotFound)
		return
	}
	if !s.free.TryAcquire(1) {
		w.Header().Set("Retry-After", "10")
		http.Error(w, "arena: too many connections", http.StatusServiceUnavailable)
		return
	}
	defer s.free.Release(1)
	socket, err := s.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	defer socket.Close()
	socket.SetReadLimit(frameSize)
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	c := &connection{server: s, socket: socket, market: market}
	if err := c.serve(ctx, cancel); err != nil {
		c.close(err)
	}
}

// close tells the client why.
func (c *connection) close(err error) {
	code, text := websocket.CloseInternalServerErr, "failed"
	refusal := new(arena.Refusal)
	switch {
	case errors.As(err, &refusal):
		code, text = websocket.ClosePolicyViolation, refusal.Error()
	case errors.Is(err, service.ErrReplaced):
		code, text = arena.CloseReplaced, err.Error()
	case errors.Is(err, service.ErrSlow):
		code, text = arena.CloseSlow, err.Error()
	case errors.Is(err, service.ErrStopped), errors.Is(err, context.Canceled):
		code, text = websocket.CloseServiceRestart, service.ErrStopped.Error()
	}
	message := websocket.FormatCloseMessage(code, text[:min(len(text), 120)])
	_ = c.socket.WriteControl(websocket.CloseMessage, message, time.Now().Add(writeWithin))
}

// serve works until the connection ends.
func (c *connection) serve(ctx context.Context, cancel context.CancelFunc) error {
	after, err := c.enter()
	if err != nil {
		return err
	}
	c.arrived = c.server.config.Service.Arrive()
	standing, err := c.server.config.Service.Standing(ctx, c.market, c.agent)
	if err != nil {
		return err
	}
	if err := c.write(arena.ServerFrame{Standing: &standing}); err != nil {
		return err
	}
	ended := make(chan error, 2)
	// joined gets a value once the agent has events.
	joined := make(chan struct{}, 1)
	if c.agent == "" || standing.Review != nil {
		joined <- struct{}{}
	}
	go func() { ended <- c.events(ctx, after, standing.Shown, joined) }()
	go func() { ended <- c.messages(ctx, joined) }()
	c.close(<-ended)
	cancel()
	// If a socket is closed while frames of the client are unread, the client's next write fails, possibly before the
	// client has read the reason. So these frames are read, and dropped.
	stop := time.AfterFunc(closeWithin, func() { _ = c.socket.Close() })
	defer stop.Stop()
	<-ended
	for err == nil {
		_, _, err = c.socket.ReadMessage()
	}
	return nil
}

// enter challenges the client, and returns the client's latest event number.
func (c *connection) enter() (after uint64, err error) {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // it never returns an error
	challenge := base64.RawURLEncoding.EncodeToString(random)
	if err := c.write(arena.ServerFrame{Challenge: challenge}); err != nil {
		return 0, err
	}
	if err := c.socket.SetReadDeadline(time.Now().Add(enterWithin)); err != nil {
		return 0, err
	}
	frame, err := c.read()
	switch {
	case err != nil:
		return 0, err
	case frame.Watch != nil && frame.Enter == nil && frame.Message == nil:
		return frame.Watch.After, nil
	case frame.Enter != nil && frame.Watch == nil && frame.Message == nil:
		c.agent = frame.Enter.Agent
		return frame.Enter.After, frame.Enter.Verify(c.market, challenge)
	}
	return 0, &arena.Refusal{Code: arena.CodeMalformed, Text: "the first frame must be enter or watch"}
}

// read reads one frame.
func (c *connection) read() (frame arena.ClientFrame, err error) {
	kind, data, err := c.socket.ReadMessage()
	switch {
	case err != nil:
		return frame, err
	case kind != websocket.TextMessage || json.Unmarshal(data, &frame) != nil:
		return frame, &arena.Refusal{Code: arena.CodeMalformed, Text: "a frame must be one JSON object"}
	}
	return frame, nil
}

func (c *connection) write(frame arena.ServerFrame) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	if err := c.socket.SetWriteDeadline(time.Now().Add(writeWithin)); err != nil {
		return err
	}
	return c.socket.WriteJSON(frame)
}

// events delivers events after the given number, or, if they are gone, after latest.
func (c *connection) events(ctx context.Context, after, latest uint64, joined <-chan struct{}) error {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	var stream *service.Stream
	var events <-chan arena.Shown
	var done <-chan struct{}
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-ping.C:
			if err := c.socket.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeWithin)); err != nil {
				return err
			}
		case <-joined:
			if stream != nil {
				continue
			}
			opened, end, err := c.server.config.Service.Follow(c.market, c.agent, c.arrived, after)
			if errors.Is(err, service.ErrGone) {
				opened, end, err = c.server.config.Service.Follow(c.market, c.agent, c.arrived, latest)
			}
			if err != nil {
				return err
			}
			defer end()
			stream, events, done = opened, opened.Events(), opened.Done()
		case event := <-events:
			if err := c.write(arena.ServerFrame{Event: &event}); err != nil {
				return err
			}
		case <-done:
			return stream.Err()
		}
	}
}

// messages applies the client's messages in sequence.
func (c *connection) messages(ctx context.Context, joined chan<- struct{}) error {
	limiter := rate.NewLimiter(perSecond, burst)
	alive := func(string) error { return c.socket.SetReadDeadline(time.Now().Add(silent)) }
	c.socket.SetPongHandler(alive)
	for {
		if err := alive(""); err != nil {
			return err
		}
		frame, err := c.read()
		if err = cmp.Or(err, context.Cause(ctx)); err != nil {
			return err
		}
		if frame.Message == nil || frame.Enter != nil || frame.Watch != nil {
			return &arena.Refusal{Code: arena.CodeMalformed, Text: "a further frame must be a message"}
		}
		if err := limiter.Wait(ctx); err != nil {
			return err
		}
		answer, joins := c.accept(ctx, frame.Message)
		if joins {
			select {
			case joined <- struct{}{}:
			default:
			}
		}
		if err := c.write(answer); err != nil {
			return err
		}
	}
}

// accept replies to a message, and reports whether the agent has joined as a result. The message must match
// the connection's market and agent.
func (c *connection) accept(ctx context.Context, text []byte) (answer arena.ServerFrame, joins bool) {
	m, err := arena.Parse(text)
	if err == nil && (m.Agent() != c.agent || m.Draft().Market != c.market) {
		err = &arena.Refusal{Code: arena.CodeParty, Text: "agent, market: not those of the connection"}
	}
	var receipt arena.Receipt
	if err == nil {
		receipt, err = c.server.config.Service.Accept(ctx, m)
	}
	if err == nil {
		// Operators and resolvers act as well, and have no events.
		_, joins = m.Draft().Action.(arena.Join)
		return arena.ServerFrame{Receipt: &receipt}, joins
	}
	refused := &arena.Refused{Code: arena.CodeUnavailable, Text: "send the message again"}
	refusal := new(arena.Refusal)
	if errors.As(err, &refusal) {
		refused.Code, refused.Text = refusal.Code, refusal.Text
	} else {
		c.server.config.Log.WarnContext(ctx, "message not accepted", "market", c.market, "error", err)
	}
	if standing, err := c.server.config.Service.Standing(ctx, c.market, c.agent); err == nil {
		refused.Next = standing.Next
	}
	return arena.ServerFrame{Refused: refused}, false
}
