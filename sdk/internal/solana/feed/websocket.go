package feed

import (
	"context"
	"errors"
	"net"
	"slices"
	"sync"

	"github.com/gagliardetto/solana-go"

	"github.com/haggle-protocol/haggle/sdk/events"
	"github.com/haggle-protocol/haggle/sdk/transaction"
)

// webSockets is the source that uses the nodes' WebSocket interfaces, one at a time.
type webSockets struct {
	endpoints []string
	dial      Dial

	lock sync.Mutex
	// current is the endpoint in use, until it fails.
	current int
	// refused holds the endpoints that refused to subscribe for good.
	refused map[int]bool
}

// Dial opens a connection, as net.Dialer does.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// NewWebSockets returns a source that uses the WebSocket interfaces of nodes, given by their URLs. If dial is nil, the
// connections are TCP connections.
func NewWebSockets(endpoints []string, dial Dial) events.Source {
	return &webSockets{endpoints: endpoints, dial: dial, refused: make(map[int]bool)}
}

// Open connects to the node that was used last, or to the next reachable node.
func (w *webSockets) Open(ctx context.Context, options events.Options) (events.Stream, error) {
	var errs error
	for range w.endpoints {
		number, endpoint := w.choose()
		conn, err := dialLogs(ctx, w.dial, endpoint, options)
		if err == nil {
			stream := &webSocketStream{source: w, number: number, endpoint: endpoint, options: options,
				done: make(chan struct{})}
			stream.add(conn)
			return stream, nil
		}
		errs = errors.Join(errs, err)
		w.leaveNode(number)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errs
}

// choose returns the endpoint to use now. At least one endpoint did not refuse.
func (w *webSockets) choose() (int, string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for w.refused[w.current] {
		w.current = (w.current + 1) % len(w.endpoints)
	}
	return w.current, w.endpoints[w.current]
}

// leaveNode switches to the next endpoint if this one is still the current one.
func (w *webSockets) leaveNode(number int) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.current == number {
		w.current = (w.current + 1) % len(w.endpoints)
	}
}

// markRefused records that a node refuses subscriptions, and reports whether all nodes do.
func (w *webSockets) markRefused(number int) bool {
	w.leaveNode(number)
	w.lock.Lock()
	defer w.lock.Unlock()
	w.refused[number] = true
	if len(w.refused) < len(w.endpoints) {
		return false
	}
	clear(w.refused)
	return true
}

// refusedByNode is a refusal by one node while others remain, so it is not permanent.
type refusedByNode struct{ refusal error }

func (e *refusedByNode) Error() string { return subscribeMethod + ": " + e.refusal.Error() }

func isRefusal(err error) bool {
	var refused *transaction.NodeError
	return errors.As(err, &refused) && refused.Method == subscribeMethod && !errors.Is(err, ErrFull) &&
		(refused.Code == transaction.CodeMethodNotFound || refused.Code == transaction.CodeInvalidParams)
}

// webSocketStream is a connection, with further ones to the same node if the node limits the subscriptions
// per connection.
type webSocketStream struct {
	source   *webSockets
	number   int
	endpoint string
	options  events.Options
	// done is closed when one of the connections ended; err is the reason.
	done    chan struct{}
	running sync.WaitGroup

	lock        sync.Mutex
	connections []*logConn
	closed      bool
	err         error
}

// add adds a connection. The stream ends with the first connection to end; the client then subscribes anew.
func (s *webSocketStream) add(conn *logConn) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.connections = append(s.connections, conn)
	s.running.Go(func() {
		<-conn.done
		s.lock.Lock()
		defer s.lock.Unlock()
		if s.err == nil {
			s.err = conn.closeError()
			if !s.closed {
				s.source.leaveNode(s.number)
			}
			close(s.done)
		}
	})
}

func (s *webSocketStream) last() *logConn {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.connections[len(s.connections)-1]
}

func (s *webSocketStream) Subscribe(ctx context.Context, addresses []solana.PublicKey) error {
	for {
		conn := s.last()
		err := conn.subscribe(ctx, addresses)
		if err == nil {
			return nil
		}
		if !errors.Is(err, ErrFull) || conn.size() == 0 {
			return s.leaveNode(err)
		}
		addresses = slices.DeleteFunc(slices.Clone(addresses), conn.isSubscribed)
		further, err := dialLogs(ctx, s.source.dial, s.endpoint, s.options)
		if err != nil {
			return s.leaveNode(err)
		}
		s.add(further)
	}
}

// leaveNode makes the next stream use another node.
func (s *webSocketStream) leaveNode(err error) error {
	if !isRefusal(err) {
		s.source.leaveNode(s.number)
		return err
	}
	if !s.source.markRefused(s.number) {
		return &refusedByNode{err}
	}
	return err
}

func (s *webSocketStream) Unsubscribe(addresses []solana.PublicKey) error {
	s.lock.Lock()
	connections := s.connections
	s.lock.Unlock()
	for _, address := range addresses {
		for _, conn := range connections {
			if err := conn.unsubscribe(address); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *webSocketStream) Done() <-chan struct{} { return s.done }

func (s *webSocketStream) Err() error {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.err
}

func (s *webSocketStream) Close() {
	s.lock.Lock()
	s.closed = true
	connections := s.connections
	s.lock.Unlock()
	for _, conn := range connections {
		conn.close()
	}
	s.running.Wait()
}
