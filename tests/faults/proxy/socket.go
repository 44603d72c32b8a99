package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	"github.com/tidwall/gjson"
)

const (
	// messageMost is the largest message length in bytes.
	messageMost = 4 << 20
	// delayedMost limits a connection's delayed notifications; beyond it notifications are passed on at once.
	delayedMost = 256
	writeLimit  = 10 * time.Second
)

// session is a client's WebSocket connection and the corresponding connection to the node.
type session struct {
	proxy        *Proxy
	client, node *websocket.Conn
	ctx          context.Context
	end          context.CancelFunc
	// delayed waits for delayed notifications; slots limits them.
	delayed sync.WaitGroup
	slots   chan struct{}
	writing sync.Mutex
}

// connect opens a WebSocket connection to the node for a client, and passes messages on until either side
// ends.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	p.stats.add(func(c *Counts) { c.Connections++ })
	if _, refused := p.options.Rates.pick(p.dice.next("connection"), ofConnections); refused {
		p.stats.fault(ConnectionRefused)
		fail(w, http.StatusServiceUnavailable)
		return
	}
	node, response, err := p.dialer.DialContext(p.closing, p.options.WSURL, nil)
	if response != nil && response.Body != nil {
		_ = response.Body.Close()
	}
	if err != nil {
		fail(w, http.StatusBadGateway)
		return
	}
	defer node.Close()
	client, err := p.upgrader.Upgrade(w, r, nil)
	if err != nil {
		return // the upgrader has responded
	}
	defer client.Close()
	client.SetReadLimit(messageMost)
	node.SetReadLimit(messageMost)
	s := &session{proxy: p, client: client, node: node, slots: make(chan struct{}, delayedMost)}
	s.ctx, s.end = context.WithCancel(p.closing)
	s.run()
}

func (s *session) run() {
	stop := context.AfterFunc(s.ctx, func() {
		_ = s.client.Close()
		_ = s.node.Close()
	})
	defer stop()
	var asking sync.WaitGroup
	asking.Go(func() {
		defer s.end()
		for s.passRequest() == nil {
		}
	})
	for s.passMessage() == nil {
	}
	s.end()
	asking.Wait()
	s.delayed.Wait()
	_ = s.client.Close()
	_ = s.node.Close()
}

// passRequest passes on a client message, unless it is a subscription to be refused.
func (s *session) passRequest() error {
	kind, content, err := s.client.ReadMessage()
	if err != nil {
		return err
	}
	asked := parseCall(content)
	if strings.HasSuffix(asked.Method, "Subscribe") {
		s.proxy.stats.add(func(c *Counts) { c.Subscriptions++ })
		chance := s.proxy.dice.next(asked.Method)
		if _, refused := s.proxy.options.Rates.pick(chance, ofSubscriptions); refused {
			s.proxy.stats.fault(SubscriptionRefused)
			return s.refuse(asked, refusals[chance.IntN(len(refusals))])
		}
	}
	_ = s.node.SetWriteDeadline(time.Now().Add(writeLimit))
	return s.node.WriteMessage(kind, content)
}

// refusals lists temporary errors for subscriptions.
var refusals = []map[string]any{
	{"code": -32603, "message": "Internal error"},
	{"code": -32005, "message": "Node is behind by 42 slots"},
	{"code": -32006, "message": "Too many subscriptions: the limit of this connection is reached"},
}

func (s *session) refuse(asked *call, refusal map[string]any) error {
	content, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": asked.ID, "error": refusal})
	if err != nil {
		return err
	}
	return s.tell(websocket.TextMessage, content)
}

// passMessage passes on a node message. Replies are always passed on.
func (s *session) passMessage() error {
	kind, content, err := s.node.ReadMessage()
	if err != nil {
		return err
	}
	if !isNotification(content) {
		return s.tell(kind, content)
	}
	p := s.proxy
	p.stats.add(func(c *Counts) { c.Notifications++ })
	chance := p.dice.next("notification")
	fault, faulty := p.options.Rates.pick(chance, ofNotifications)
	if !faulty {
		return s.tell(kind, content)
	}
	p.stats.fault(fault)
	switch fault {
	case ConnectionCut:
		if chance.IntN(2) == 0 {
			goodbye := websocket.FormatCloseMessage(websocket.CloseGoingAway, "")
			_ = s.client.WriteControl(websocket.CloseMessage, goodbye, time.Now().Add(writeLimit))
		}
		return errCut
	case NotificationRepeated:
		if err := s.tell(kind, content); err != nil {
			return err
		}
		return s.tell(kind, content)
	case NotificationDelayed:
		return s.tellLater(time.Duration(chance.Int64N(int64(p.options.MaxDelay)+1)), kind, content)
	}
	return nil // dropped
}

var errCut = websocket.ErrCloseSent

// isNotification distinguishes a notification from a reply, which includes no method.
func isNotification(content []byte) bool { return gjson.GetBytes(content, "method").String() != "" }

func (s *session) tell(kind int, content []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_ = s.client.SetWriteDeadline(time.Now().Add(writeLimit))
	return s.client.WriteMessage(kind, content)
}

func (s *session) tellLater(delay time.Duration, kind int, content []byte) error {
	select {
	case s.slots <- struct{}{}:
	default:
		return s.tell(kind, content)
	}
	s.delayed.Go(func() {
		defer func() { <-s.slots }()
		if sleep(s.ctx, delay) == nil {
			_ = s.tell(kind, content)
		}
	})
	return nil
}
