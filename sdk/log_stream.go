package haggle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
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
	// backlogLimit is how many notifications wait for a slow listener. Beyond it the connection is given up, and what has been
	// missed is fetched once the listener has caught up.
	backlogLimit = 4096
)

const subscribeMethod = "logsSubscribe"

var errBacklog = errors.New("haggle: the listener is too slow for the subscription")

// logStream is a WebSocket connection on which a node tells of transactions that mention an address. What it tells is a hint: a
// validator collects the logs of an execution before it records it in a block, and should that fail it executes the transaction
// again in a later one, or not at all.
type logStream struct {
	conn       *websocket.Conn
	commitment rpc.CommitmentType
	// wake has an element when there are notifications to take.
	wake chan struct{}
	// done is closed when the connection has ended; err says why.
	done    chan struct{}
	running sync.WaitGroup

	lock    sync.Mutex
	lastID  uint64
	replies map[uint64]chan reply
	backlog []solana.Signature
	err     error
}

type reply struct {
	subscription uint64
	err          error
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
		Result struct {
			Value struct {
				Signature solana.Signature `json:"signature"`
				Err       json.RawMessage  `json:"err"`
			} `json:"value"`
		} `json:"result"`
	} `json:"params"`
}

func dialLogs(ctx context.Context, endpoint string, commitment rpc.CommitmentType) (*logStream, error) {
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
	stream := &logStream{
		conn:       conn,
		commitment: commitment,
		wake:       make(chan struct{}, 1),
		done:       make(chan struct{}),
		replies:    make(map[uint64]chan reply),
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
func (s *logStream) close() {
	_ = s.conn.Close()
	s.running.Wait()
}

func (s *logStream) read() {
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

func (s *logStream) end(err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.err = fmt.Errorf("haggle: the WebSocket connection has ended: %w", err)
	for id, waiting := range s.replies {
		delete(s.replies, id)
		waiting <- reply{err: s.err}
	}
}

func (s *logStream) receive(encoded []byte) error {
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
	s.lock.Lock()
	defer s.lock.Unlock()
	if len(s.backlog) == backlogLimit {
		return errBacklog
	}
	s.backlog = append(s.backlog, value.Signature)
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

func (s *logStream) answer(received *message) error {
	s.lock.Lock()
	waiting := s.replies[*received.ID]
	delete(s.replies, *received.ID)
	s.lock.Unlock()
	if waiting == nil {
		return nil
	}
	if received.Error != nil {
		waiting <- reply{err: &NodeError{Method: subscribeMethod, Code: received.Error.Code, Message: received.Error.Message}}
		return nil
	}
	var subscription uint64
	err := json.Unmarshal(received.Result, &subscription)
	if err != nil {
		err = fmt.Errorf("a reply without the number of a subscription: %w", err)
	}
	waiting <- reply{subscription: subscription, err: err}
	return err
}

// take returns the transactions that have been told of since the last time.
func (s *logStream) take() []solana.Signature {
	s.lock.Lock()
	defer s.lock.Unlock()
	taken := s.backlog
	s.backlog = nil
	return taken
}

// failure says why the connection has ended.
func (s *logStream) failure() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.err
}

// subscribe returns once the node tells of every transaction that mentions the address.
func (s *logStream) subscribe(ctx context.Context, address solana.PublicKey) (uint64, error) {
	waiting := make(chan reply, 1)
	s.lock.Lock()
	if s.err != nil {
		defer s.lock.Unlock()
		return 0, s.err
	}
	s.lastID++
	id := s.lastID
	s.replies[id] = waiting
	s.lock.Unlock()

	err := s.request(id, subscribeMethod,
		map[string]any{"mentions": []solana.PublicKey{address}},
		map[string]any{"commitment": s.commitment})
	if err != nil {
		return 0, err
	}
	timer := time.NewTimer(replyLimit)
	defer timer.Stop()
	select {
	case answered := <-waiting:
		return answered.subscription, answered.err
	case <-timer.C:
		return 0, fmt.Errorf("haggle: the node does not answer a subscription within %s", replyLimit)
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// unsubscribe does not wait for the answer.
func (s *logStream) unsubscribe(subscription uint64) error {
	s.lock.Lock()
	s.lastID++
	id := s.lastID
	s.lock.Unlock()
	return s.request(id, "logsUnsubscribe", subscription)
}

// request writes; only one goroutine may at a time.
func (s *logStream) request(id uint64, method string, params ...any) error {
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
func (s *logStream) ping() {
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
