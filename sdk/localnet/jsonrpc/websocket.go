package jsonrpc

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// The limits of a WebSocket connection.
const (
	maxSubscriptions = 1000
	// maxQueued is the number of messages that a client may be behind; then the connection is closed.
	maxQueued    = 4096
	writeTimeout = 10 * time.Second
)

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

// connection is a WebSocket with its subscriptions.
type connection struct {
	socket *websocket.Conn
	queue  chan any
	ended  context.CancelFunc

	lock          sync.Mutex
	next          uint64
	subscriptions map[uint64]*subscription
}

func (s *Server) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	socket, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // Upgrade has answered
	}
	defer socket.Close()
	socket.SetReadLimit(maxRequestBytes)
	ctx, ended := context.WithCancel(s.ctx)
	defer ended()
	c := &connection{
		socket: socket, queue: make(chan any, maxQueued), ended: ended, subscriptions: map[uint64]*subscription{},
	}
	s.hub.add(c)
	defer s.hub.remove(c)
	var writing sync.WaitGroup
	defer writing.Wait()
	writing.Go(func() { c.write(ctx) })
	defer ended()
	for {
		_, raw, err := socket.ReadMessage()
		if err != nil {
			return
		}
		if answer := s.answerSocket(c, raw); answer != nil {
			c.push(answer)
		}
	}
}

// write sends queued messages, and closes the socket at the end.
func (c *connection) write(ctx context.Context) {
	defer c.socket.Close()
	for {
		select {
		case <-ctx.Done():
			return
		case message := <-c.queue:
			_ = c.socket.SetWriteDeadline(time.Now().Add(writeTimeout))
			if c.socket.WriteJSON(message) != nil {
				return
			}
		}
	}
}

// push queues a message. It ends a connection that is too far behind.
func (c *connection) push(message any) {
	select {
	case c.queue <- message:
	default:
		c.ended()
	}
}

func (s *Server) answerSocket(c *connection, raw json.RawMessage) any {
	r, positional, invalid := parseRequest(raw)
	if invalid != nil {
		return failure(r.ID, invalid)
	}
	if kind, is := strings.CutSuffix(r.Method, "Unsubscribe"); is && kinds[kind] != nil {
		var id uint64
		if err := positional.into(0, &id); err != nil {
			return failure(r.ID, err.(*Error))
		}
		if !c.unsubscribe(id) {
			return failure(r.ID, invalidParams("Invalid subscription id."))
		}
		return response{Result: true, ID: r.ID}
	}
	kind, is := strings.CutSuffix(r.Method, "Subscribe")
	if !is || kinds[kind] == nil {
		return s.answer(raw)
	}
	subscribed, err := newSubscription(kind, positional)
	if err != nil {
		return failure(r.ID, err.(*Error))
	}
	id, err := c.subscribe(subscribed)
	if err != nil {
		return failure(r.ID, err.(*Error))
	}
	// The answer precedes the notifications.
	c.push(response{Result: id, ID: r.ID})
	s.hub.begin(c, id, subscribed)
	return nil
}

func (c *connection) subscribe(s *subscription) (uint64, error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if len(c.subscriptions) >= maxSubscriptions {
		return 0, &Error{Code: codeInternal, Message: "Internal error: too many subscriptions"}
	}
	c.next++
	c.subscriptions[c.next] = s
	return c.next, nil
}

func (c *connection) unsubscribe(id uint64) bool {
	c.lock.Lock()
	defer c.lock.Unlock()
	_, known := c.subscriptions[id]
	delete(c.subscriptions, id)
	return known
}

// each calls a function with every active subscription.
func (c *connection) each(visit func(id uint64, s *subscription)) {
	c.lock.Lock()
	defer c.lock.Unlock()
	for id, s := range c.subscriptions {
		if s.active {
			visit(id, s)
		}
	}
}

func (c *connection) notify(kind string, id uint64, result any) {
	c.push(object{
		"jsonrpc": "2.0", "method": kind + "Notification", "params": object{"subscription": id, "result": result},
	})
}

func contextOf(slot uint64, value any) object {
	return object{"context": object{"slot": slot}, "value": value}
}
