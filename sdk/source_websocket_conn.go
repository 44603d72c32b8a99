package haggle

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gagliardetto/solana-go"
	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gorilla/websocket"
)

const (
	handshakeLimit = 10 * time.Second
	// replyLimit is how long a node may take to answer a request for a subscription.
	replyLimit = 15 * time.Second
	writeLimit = 10 * time.Second
	// pingEvery and silentLimit find out that a connection is dead of which nobody has said so.
	pingEvery   = 15 * time.Second
	silentLimit = 3 * pingEvery
	// messageLimit is far above what a node sends at once: logs are cut off at 10,000 bytes.
	messageLimit = 4 << 20
	// pipelined is how many requests for a subscription wait for their answers at once. One after the other, 10,000 would take
	// 10,000 times the way to the node and back.
	pipelined = 256
	// earlyLimit is how many notifications may come before the answer that says what they are about.
	earlyLimit = 4096
)

const subscribeMethod = "logsSubscribe"

// errFull: the node does not take another subscription on this connection.
var errFull = errors.New("haggle: the node takes no more subscriptions on this connection")

// logConn is a WebSocket connection on which a node tells of transactions that mention addresses. What it tells is a hint: a
// validator collects the logs of an execution before it records it in a block, and should that fail it executes the transaction
// again in a later one, or not at all.
type logConn struct {
	conn       *websocket.Conn
	commitment rpc.CommitmentType
	notify     func(Hint)
	// done is closed when the connection has ended; err says why.
	done    chan struct{}
	running sync.WaitGroup

	lock   sync.Mutex
	lastID uint64
	// asked are the requests for a subscription that have not been answered.
	asked map[uint64]ask
	// addresses and numbers are the subscriptions, by the node's number for them and the other way round.
	addresses map[uint64]solana.PublicKey
	numbers   map[solana.PublicKey]uint64
	// early are notifications with a number that the node has not said yet what it is for.
	early map[uint64][]Hint
	// earlyCount is how many there are.
	earlyCount int
	err        error
}

type ask struct {
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

func dialLogs(ctx context.Context, endpoint string, commitment rpc.CommitmentType, notify func(Hint)) (*logConn, error) {
	dialer := websocket.Dialer{Proxy: http.ProxyFromEnvironment, HandshakeTimeout: handshakeLimit}
	conn, response, err := dialer.DialContext(ctx, endpoint, nil)
	if response != nil && response.Body != nil {
		_ = response.Body.Close()
	}
	if err != nil {
		if response != nil {
			return nil, fmt.Errorf("haggle: connect to the WebSocket endpoint: %w (HTTP status %d)", err, response.StatusCode)
		}
		return nil, fmt.Errorf("haggle: connect to the WebSocket endpoint: %w", err)
	}
	stream := &logConn{
		conn:       conn,
		commitment: commitment,
		notify:     notify,
		done:       make(chan struct{}),
		asked:      make(map[uint64]ask),
		addresses:  make(map[uint64]solana.PublicKey),
		numbers:    make(map[solana.PublicKey]uint64),
		early:      make(map[uint64][]Hint),
	}
	conn.SetReadLimit(messageLimit)
	alive := func(string) error { return conn.SetReadDeadline(time.Now().Add(silentLimit)) }
	conn.SetPongHandler(alive)
	_ = alive("")
	stream.running.Go(stream.read)
	stream.running.Go(stream.ping)
	return stream, nil
}

// close ends the connection and waits until nothing of it runs.
func (s *logConn) close() {
	_ = s.conn.Close()
	s.running.Wait()
}

func (s *logConn) read() {
	defer close(s.done)
	for {
		_, encoded, err := s.conn.ReadMessage()
		if err == nil {
			err = s.conn.SetReadDeadline(time.Now().Add(silentLimit))
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
	s.err = fmt.Errorf("haggle: the WebSocket connection has ended: %w", err)
	for id, waiting := range s.asked {
		delete(s.asked, id)
		waiting.answers <- s.err
	}
}

func (s *logConn) receive(encoded []byte) error {
	var received message
	if err := json.Unmarshal(encoded, &received); err != nil {
		return fmt.Errorf("a message that is not what a node sends: %w", err)
	}
	if received.ID != nil {
		return s.answer(&received)
	}
	value := &received.Params.Result.Value
	// An execution that failed has done nothing. Should the transaction succeed after all, there is another notification.
	failed := len(value.Err) > 0 && string(value.Err) != "null"
	if value.Signature.IsZero() || failed {
		return nil
	}
	hint := Hint{Signature: value.Signature, Slot: received.Params.Result.Context.Slot, Unrelated: unrelated(encoded)}
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

// unrelated says whether a notification's logs are certain not to tell of this program. They are not decoded for that: text in
// which a character may be spelled otherwise is not certain.
func unrelated(notification []byte) bool {
	return bytes.Contains(notification, []byte(`"logs":[`)) && !bytes.Contains(notification, []byte(invocation)) &&
		!bytes.Contains(notification, []byte("Log truncated")) && !bytes.Contains(notification, []byte(`\u`))
}

// keepEarly keeps a notification for when the node says what it is about. After an unsubscription some come that nobody waits for.
func (s *logConn) keepEarly(number uint64, hint Hint) error {
	if len(s.asked) == 0 {
		return nil
	}
	if s.earlyCount == earlyLimit {
		return errors.New("too many notifications of subscriptions that the node has not named")
	}
	s.earlyCount++
	s.early[number] = append(s.early[number], hint)
	return nil
}

func (s *logConn) answer(received *message) error {
	s.lock.Lock()
	waiting, ok := s.asked[*received.ID]
	delete(s.asked, *received.ID)
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
		err = fmt.Errorf("a reply without the number of a subscription: %w", err)
		waiting.answers <- err
		return err
	}
	s.lock.Lock()
	s.addresses[number], s.numbers[waiting.address] = waiting.address, number
	early := s.early[number]
	s.earlyCount -= len(early)
	delete(s.early, number)
	if len(s.asked) == 0 {
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

// subscriptionRefusal tells a node that has enough subscriptions from one that refuses this one. There is no number for it that all use.
func subscriptionRefusal(code int, message string) error {
	refused := &NodeError{Method: subscribeMethod, Code: code, Message: message}
	text := strings.ToLower(message)
	if strings.Contains(text, "limit") || strings.Contains(text, "too many") || strings.Contains(text, "exceed") || strings.Contains(text, "maximum") {
		return fmt.Errorf("%w: %w", errFull, refused)
	}
	return refused
}

// failure says why the connection has ended.
func (s *logConn) failure() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.err
}

// size is how many subscriptions the connection has.
func (s *logConn) size() int {
	s.lock.Lock()
	defer s.lock.Unlock()
	return len(s.numbers)
}

// has says whether an address is subscribed to.
func (s *logConn) has(address solana.PublicKey) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	_, subscribed := s.numbers[address]
	return subscribed
}

// subscribe returns once the node tells of every transaction that mentions one of the addresses. After errFull it does so for those
// that [logConn.has] says.
func (s *logConn) subscribe(ctx context.Context, addresses []solana.PublicKey) error {
	answers := make(chan error, pipelined)
	outstanding := 0
	var failed error
	timer := time.NewTimer(replyLimit)
	defer timer.Stop()
	for len(addresses) > 0 && failed == nil || outstanding > 0 {
		if failed == nil && len(addresses) > 0 && outstanding < pipelined {
			if err := s.ask(addresses[0], answers); err != nil {
				return err
			}
			addresses = addresses[1:]
			outstanding++
			continue
		}
		select {
		case err := <-answers:
			outstanding--
			timer.Reset(replyLimit)
			if err != nil && !errors.Is(err, errFull) {
				return err
			}
			if err != nil {
				failed = err
			}
		case <-timer.C:
			return fmt.Errorf("haggle: the node does not answer a subscription within %s", replyLimit)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return failed
}

func (s *logConn) ask(address solana.PublicKey, answers chan<- error) error {
	s.lock.Lock()
	if s.err != nil {
		defer s.lock.Unlock()
		return s.err
	}
	s.lastID++
	id := s.lastID
	s.asked[id] = ask{address: address, answers: answers}
	s.lock.Unlock()
	return s.request(id, subscribeMethod,
		map[string]any{"mentions": []solana.PublicKey{address}},
		map[string]any{"commitment": s.commitment})
}

// unsubscribe does not wait for the answer.
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

// request writes; only one goroutine may at a time.
func (s *logConn) request(id uint64, method string, params ...any) error {
	if err := s.conn.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	err := s.conn.WriteJSON(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		return fmt.Errorf("haggle: write to the WebSocket connection: %w", err)
	}
	return nil
}

// ping finds out that the connection is dead, and lets the node know that this end is not.
func (s *logConn) ping() {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-ticker.C:
			// If it fails, nothing comes back, and reading ends.
			_ = s.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(writeLimit))
		}
	}
}
