package feed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gorilla/websocket"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

const (
	handshakeTimeout = 10 * time.Second
	// replyTimeout is the time limit for a node to confirm a subscription.
	replyTimeout = 15 * time.Second
	writeTimeout = 10 * time.Second
	// pingEvery and readTimeout detect a connection that is dead but not closed.
	pingEvery   = 15 * time.Second
	readTimeout = 3 * pingEvery
	// maxMessageSize is far above the size of a notification: logs are cut off at 10,000 bytes.
	maxMessageSize = 4 << 20
	// maxPipelined limits the subscription requests that wait for their replies at once. Sequentially, 10,000
	// requests would take 10,000 round trips.
	maxPipelined = 256
	// maxEarly limits the notifications that may arrive before the reply that names their subscription.
	maxEarly = 4096
)

const subscribeMethod = "logsSubscribe"

// ErrFull: the node accepts no further subscription on this connection.
var ErrFull = errors.New("node accepts no more subscriptions on this connection")

// logConn is a WebSocket connection with log subscriptions to addresses. Notifications are hints: a validator
// collects an execution's logs before recording the execution in a block. If recording fails, the validator
// executes the transaction again in a later block, or not at all.
type logConn struct {
	conn       *websocket.Conn
	commitment rpc.CommitmentType
	notify     func(events.Hint)
	// invocation begins each line that logs a call of the program.
	invocation []byte
	// done is closed when the connection ended; err is the reason.
	done    chan struct{}
	running sync.WaitGroup

	lock   sync.Mutex
	lastID uint64
	// pending holds the subscription requests without a reply.
	pending map[uint64]pendingSubscribe
	// addresses and numbers map the node's subscription numbers to addresses and back.
	addresses map[uint64]solana.PublicKey
	numbers   map[solana.PublicKey]uint64
	// early holds notifications of subscription numbers that no reply named yet.
	early map[uint64][]events.Hint
	// earlyCount counts the early notifications.
	earlyCount int
	err        error
}

type pendingSubscribe struct {
	address solana.PublicKey
	answers chan<- error
}

// message is either the reply to a request or a notification.
type message struct {
	ID     *uint64         `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
	Params struct {
		Subscription uint64 `json:"subscription"`
		Result       struct {
			Context struct {
				Slot uint64 `json:"slot"`
			} `json:"context"`
			Value struct {
				Signature solana.Signature `json:"signature"`
				Err       json.RawMessage  `json:"err"`
			} `json:"value"`
		} `json:"result"`
	} `json:"params"`
}

func dialLogs(
	ctx context.Context, dial Dial, endpoint string, options events.Options,
) (*logConn, error) {
	dialer := websocket.Dialer{HandshakeTimeout: handshakeTimeout, NetDialContext: dial}
	if dial == nil {
		dialer.Proxy = http.ProxyFromEnvironment
	}
	conn, response, err := dialer.DialContext(ctx, endpoint, nil)
	if response != nil && response.Body != nil {
		_ = response.Body.Close()
	}
	if err != nil {
		if response != nil {
			return nil, fmt.Errorf("connect to the WebSocket endpoint %s: %w (HTTP status %d)",
				host(endpoint), err, response.StatusCode)
		}
		return nil, fmt.Errorf("connect to the WebSocket endpoint %s: %w", host(endpoint), err)
	}
	stream := &logConn{
		conn:       conn,
		commitment: options.Commitment,
		notify:     options.Notify,
		invocation: []byte("Program " + options.Program.String() + " invoke"),
		done:       make(chan struct{}),
		pending:    make(map[uint64]pendingSubscribe),
		addresses:  make(map[uint64]solana.PublicKey),
		numbers:    make(map[solana.PublicKey]uint64),
		early:      make(map[uint64][]events.Hint),
	}
	conn.SetReadLimit(maxMessageSize)
	alive := func(string) error { return conn.SetReadDeadline(time.Now().Add(readTimeout)) }
	conn.SetPongHandler(alive)
	_ = alive("")
	stream.running.Go(stream.read)
	stream.running.Go(stream.ping)
	return stream, nil
}

// host returns a URL's host and port, without the rest, which may contain a key.
func host(endpoint string) string {
	parsed, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return parsed.Host
}

// close ends the connection and waits for the goroutines.
func (s *logConn) close() {
	_ = s.conn.Close()
	s.running.Wait()
}

func (s *logConn) read() {
	defer close(s.done)
	for {
		_, encoded, err := s.conn.ReadMessage()
		if err == nil {
			err = s.conn.SetReadDeadline(time.Now().Add(readTimeout))
		}
		if err == nil {
			err = s.receive(encoded)
		}
		if err != nil {
			_ = s.conn.Close()
			s.end(err)
			return
		}
	}
}

func (s *logConn) end(err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.err = fmt.Errorf("WebSocket connection closed: %w", err)
	for id, waiting := range s.pending {
		delete(s.pending, id)
		waiting.answers <- s.err
	}
}

func (s *logConn) receive(encoded []byte) error {
	var received message
	if err := json.Unmarshal(encoded, &received); err != nil {
		return fmt.Errorf("decode a message: %w", err)
	}
	if received.ID != nil {
		return s.answer(&received)
	}
	value := &received.Params.Result.Value
	// A failed execution takes no effect. If the transaction succeeds later, another notification follows.
	failed := len(value.Err) > 0 && string(value.Err) != "null"
	if value.Signature.IsZero() || failed {
		return nil
	}
	hint := events.Hint{Signature: value.Signature, Slot: received.Params.Result.Context.Slot,
		Unrelated: s.unrelated(encoded)}
	number := received.Params.Subscription
	s.lock.Lock()
	address, known := s.addresses[number]
	if !known {
		defer s.lock.Unlock()
		return s.keepEarly(number, hint)
	}
	s.lock.Unlock()
	hint.Address = address
	s.notify(hint)
	return nil
}

// unrelated reports whether a notification's logs certainly show no call of the program. It does not decode
// them, so it returns false for text with escaped characters, which can be spelled in another way.
func (s *logConn) unrelated(notification []byte) bool {
	return bytes.Contains(notification, []byte(`"logs":[`)) &&
		!bytes.Contains(notification, s.invocation) &&
		!bytes.Contains(notification, []byte("Log truncated")) && !bytes.Contains(notification, []byte(`\u`))
}

// keepEarly keeps a notification until the reply that names the subscription. If no request is pending, the
// notification belongs to an unsubscribed address, and is dropped.
func (s *logConn) keepEarly(number uint64, hint events.Hint) error {
	if len(s.pending) == 0 {
		return nil
	}
	if s.earlyCount == maxEarly {
		return errors.New("too many notifications of unknown subscriptions")
	}
	s.earlyCount++
	s.early[number] = append(s.early[number], hint)
	return nil
}

func (s *logConn) answer(received *message) error {
	s.lock.Lock()
	waiting, ok := s.pending[*received.ID]
	delete(s.pending, *received.ID)
	s.lock.Unlock()
	if !ok {
		return nil
	}
	if received.Error != nil {
		waiting.answers <- subscriptionRefusal(received.Error.Code, received.Error.Message)
		return nil
	}
	var number uint64
	if err := json.Unmarshal(received.Result, &number); err != nil {
		err = fmt.Errorf("decode a subscription number: %w", err)
		waiting.answers <- err
		return err
	}
	s.lock.Lock()
	s.addresses[number], s.numbers[waiting.address] = waiting.address, number
	early := s.early[number]
	s.earlyCount -= len(early)
	delete(s.early, number)
	if len(s.pending) == 0 {
		clear(s.early)
		s.earlyCount = 0
	}
	s.lock.Unlock()
	for _, hint := range early {
		hint.Address = waiting.address
		s.notify(hint)
	}
	waiting.answers <- nil
	return nil
}

// subscriptionRefusal distinguishes a node at its limit of subscriptions from a node that refuses this
// subscription. It uses the message, because nodes use different codes.
func subscriptionRefusal(code int, message string) error {
	refused := &transaction.NodeError{Method: subscribeMethod, Code: code, Message: message}
	text := strings.ToLower(message)
	if strings.Contains(text, "limit") || strings.Contains(text, "too many") ||
		strings.Contains(text, "exceed") || strings.Contains(text, "maximum") {
		refused.Err = ErrFull
	}
	return refused
}

// closeError returns the reason for the end of the connection.
func (s *logConn) closeError() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.err
}

// size returns the number of subscriptions.
func (s *logConn) size() int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return len(s.numbers)
}

// isSubscribed reports whether the connection is subscribed to an address.
func (s *logConn) isSubscribed(address solana.PublicKey) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	_, subscribed := s.numbers[address]
	return subscribed
}

// subscribe returns when the node confirmed the subscriptions to all addresses. After ErrFull, isSubscribed
// reports which of them it confirmed.
func (s *logConn) subscribe(ctx context.Context, addresses []solana.PublicKey) error {
	answers := make(chan error, maxPipelined)
	outstanding := 0
	var failed error
	timer := time.NewTimer(replyTimeout)
	defer timer.Stop()
	for len(addresses) > 0 && failed == nil || outstanding > 0 {
		if failed == nil && len(addresses) > 0 && outstanding < maxPipelined {
			if err := s.sendSubscribe(addresses[0], answers); err != nil {
				return err
			}
			addresses = addresses[1:]
			outstanding++
			continue
		}
		select {
		case err := <-answers:
			outstanding--
			timer.Reset(replyTimeout)
			switch {
			case errors.Is(err, ErrFull):
				failed = err
			case err != nil:
				return err
			}
		case <-timer.C:
			return fmt.Errorf("node did not confirm a subscription within %s", replyTimeout)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return failed
}

func (s *logConn) sendSubscribe(address solana.PublicKey, answers chan<- error) error {
	s.lock.Lock()
	if s.err != nil {
		defer s.lock.Unlock()
		return s.err
	}
	s.lastID++
	id := s.lastID
	s.pending[id] = pendingSubscribe{address: address, answers: answers}
	s.lock.Unlock()
	return s.request(id, subscribeMethod,
		map[string]any{"mentions": []solana.PublicKey{address}},
		map[string]any{"commitment": s.commitment})
}

// unsubscribe does not wait for the reply.
func (s *logConn) unsubscribe(address solana.PublicKey) error {
	s.lock.Lock()
	number, subscribed := s.numbers[address]
	delete(s.numbers, address)
	delete(s.addresses, number)
	s.lastID++
	id := s.lastID
	s.lock.Unlock()
	if !subscribed {
		return nil
	}
	return s.request(id, "logsUnsubscribe", number)
}

// request writes a request. It must not be called by several goroutines at once.
func (s *logConn) request(id uint64, method string, params ...any) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
		return err
	}
	err := s.conn.WriteJSON(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("write to the WebSocket connection: %w", err)
	}
	return nil
}

// ping keeps the connection alive and detects that it is dead.
func (s *logConn) ping() {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-ticker.C:
			// If the write fails, no pong arrives, and the read times out.
			_ = s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeTimeout))
		}
	}
}
