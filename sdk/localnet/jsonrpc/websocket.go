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

// WebSocket connection limits.
const (
	maxSubscriptions = 1000
	// maxQueued is the maximum number of unread messages; beyond it the connection is closed.
	maxQueued    = 4096
	writeTimeout = 10 * time.Second
)

var upgrader = websocket.Upgrader{CheckOrigin: func(*http.Request) bool { return true }}

// connection is a WebSocket with subscriptions.
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
		return // Upgrade has responded
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
		if !json.Valid(raw) {
			c.push(&response{err: parseError})
			continue
		}
		s.answerSocket(c, raw)
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

// push queues data. It ends the connection if the client is too far behind.
func (c *connection) push(message any) {
	select {
	case c.queue <- message:
	default:
		c.ended()
	}
}

// answerSocket handles a request. The response to a subscription precedes all notifications.
func (s *Server) answerSocket(c *connection, raw json.RawMessage) {
	begin := func() {}
	answer := respond(raw, func(r request) (any, *Error) {
		if kind, is := strings.CutSuffix(r.method, "Unsubscribe"); is && kinds[kind] != nil {
			return c.unsubscribe(r.params)
		}
		kind, is := strings.CutSuffix(r.method, "Subscribe")
		switch {
		case r.method == "getVersion":
			return s.call(r)
		case !is || kinds[kind] == nil:
			return nil, methodNotFound
		}
		subscribed, err := newSubscription(kind, r.params)
		if err != nil {
			return nil, err.(*Error)
		}
		id, refused := c.subscribe(subscribed)
		begin = func() { s.hub.begin(c, id, subscribed) }
		return id, refused
	})
	if answer == nil {
		return
	}
	c.push(answer)
	if answer.err == nil {
		begin()
	}
}

func (c *connection) subscribe(s *subscription) (uint64, *Error) {
	c.lock.Lock()
	defer c.lock.Unlock()
	if len(c.subscriptions) >= maxSubscriptions {
		return 0, &Error{Code: codeInternal, Message: "Internal error: too many subscriptions"}
	}
	c.next++
	c.subscriptions[c.next] = s
	return c.next, nil
}

func (c *connection) unsubscribe(p parameters) (any, *Error) {
	if err := p.check(1, 1); err != nil {
		return nil, err
	}
	var id uint64
	if err := p.into(0, "", &id); err != nil {
		return nil, err.(*Error)
	}
	c.lock.Lock()
	defer c.lock.Unlock()
	if _, known := c.subscriptions[id]; !known {
		return nil, invalidParams("Invalid subscription id.")
	}
	delete(c.subscriptions, id)
	return true, nil
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
