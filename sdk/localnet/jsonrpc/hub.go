package jsonrpc

import (
	"context"
	"sync"

	"github.com/haggle-protocol/haggle/sdk/localnet/ledger"
)

// hub passes the ledger's events to the connections, in their order.
type hub struct {
	ledger *ledger.Ledger
	wake   chan struct{}
	// stop ends the events.
	stop func()

	lock        sync.Mutex
	events      []ledger.Event
	connections map[*connection]struct{}
}

func newHub(l *ledger.Ledger) *hub {
	h := &hub{ledger: l, wake: make(chan struct{}, 1), connections: map[*connection]struct{}{}}
	h.stop = l.Watch(h.receive)
	return h
}

// receive runs while the ledger is locked. Without connections it keeps nothing.
func (h *hub) receive(event ledger.Event) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if len(h.connections) == 0 {
		return
	}
	h.events = append(h.events, event)
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

func (h *hub) run(ctx context.Context) {
	defer h.stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.wake:
		}
		for event, visible := h.take(); visible; event, visible = h.take() {
			h.dispatch(event)
		}
	}
}

// take removes the oldest event, if the node has seen it.
func (h *hub) take() (ledger.Event, bool) {
	processed, confirmed := h.ledger.Slot(ledger.Processed), h.ledger.Slot(ledger.Confirmed)
	h.lock.Lock()
	defer h.lock.Unlock()
	if len(h.events) == 0 {
		return ledger.Event{}, false
	}
	event := h.events[0]
	if event.Executed != nil && event.Executed.Slot > processed || event.Closed != nil && event.Closed.Slot > confirmed {
		return ledger.Event{}, false
	}
	h.events[0] = ledger.Event{}
	h.events = h.events[1:]
	return event, true
}

func (h *hub) dispatch(event ledger.Event) {
	if event.Executed != nil {
		h.transactions(ledger.Processed, []*ledger.Transaction{event.Executed})
		return
	}
	closed := event.Closed
	root := h.ledger.Slot(ledger.Finalized)
	h.each(func(c *connection, id uint64, s *subscription) {
		switch s.kind {
		case "slot":
			c.notify("slot", id, object{"slot": closed.Slot + 1, "parent": closed.Slot, "root": root})
		case "root":
			c.notify("root", id, root)
		}
	})
	h.transactions(ledger.Confirmed, closed.Transactions)
	if closed.Slot <= ledger.Finality {
		return
	}
	if final, visible := h.ledger.Block(closed.Slot-ledger.Finality, ledger.Finalized); visible {
		h.transactions(ledger.Finalized, final.Transactions)
	}
}

func (h *hub) transactions(level ledger.Commitment, executed []*ledger.Transaction) {
	for _, transaction := range executed {
		h.each(func(c *connection, id uint64, s *subscription) {
			if s.commitment == level {
				h.notify(c, id, s, transaction)
			}
		})
	}
}

// notify sends a transaction's notifications. Signature subscriptions end when first notified.
func (h *hub) notify(c *connection, id uint64, s *subscription, transaction *ledger.Transaction) {
	results, matches := s.result(h.ledger, transaction)
	if !matches {
		return
	}
	for _, result := range results {
		c.notify(s.kind, id, result)
	}
	if s.kind == "signature" {
		s.active = false
		delete(c.subscriptions, id)
	}
}

func (h *hub) each(visit func(*connection, uint64, *subscription)) {
	h.lock.Lock()
	connections := make([]*connection, 0, len(h.connections))
	for c := range h.connections {
		connections = append(connections, c)
	}
	h.lock.Unlock()
	for _, c := range connections {
		c.each(func(id uint64, s *subscription) { visit(c, id, s) })
	}
}

// begin activates a subscription. Signatures already at the commitment level are announced at once.
func (h *hub) begin(c *connection, id uint64, s *subscription) {
	c.lock.Lock()
	defer c.lock.Unlock()
	s.active = true
	if s.kind != "signature" {
		return
	}
	if status, known := h.ledger.Status(s.signature); known && status.Slot <= h.ledger.Slot(s.commitment) {
		h.notify(c, id, s, status.Transaction)
	}
}

func (h *hub) add(c *connection) {
	h.lock.Lock()
	defer h.lock.Unlock()
	h.connections[c] = struct{}{}
}

func (h *hub) remove(c *connection) {
	h.lock.Lock()
	defer h.lock.Unlock()
	delete(h.connections, c)
}

func (h *hub) closeConnections() {
	h.lock.Lock()
	defer h.lock.Unlock()
	for c := range h.connections {
		c.ended()
		_ = c.socket.Close()
	}
}
