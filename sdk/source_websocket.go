package haggle

import (
	"context"
	"errors"
	"sync"

	"github.com/gagliardetto/solana-go"
)

// webSockets is the default source: the WebSocket interfaces of one or several nodes, of which one is used at a time.
type webSockets struct {
	endpoints []string

	lock sync.Mutex
	// current is the one that is used, until it fails.
	current int
	// refused are those that have refused to subscribe for good.
	refused map[int]bool
}

func newWebSockets(endpoints []string) *webSockets {
	return &webSockets{endpoints: endpoints, refused: make(map[int]bool)}
}

// Open connects to the node that was used last, or to the next one that can be reached.
func (w *webSockets) Open(ctx context.Context, options StreamOptions) (EventStream, error) {
	var failed error
	for range w.endpoints {
		number, endpoint := w.choose()
		conn, err := dialLogs(ctx, endpoint, options.Commitment, options.Notify)
		if err == nil {
			stream := &webSocketStream{source: w, number: number, endpoint: endpoint, options: options, done: make(chan struct{})}
			stream.add(conn)
			return stream, nil
		}
		failed = errors.Join(failed, err)
		w.leave(number)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failed
}

// choose is the endpoint to use now; at least one has not refused.
func (w *webSockets) choose() (int, string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for w.refused[w.current] {
		w.current = (w.current + 1) % len(w.endpoints)
	}
	return w.current, w.endpoints[w.current]
}

// leave turns from an endpoint to the next one, unless that has been done.
func (w *webSockets) leave(number int) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.current == number {
		w.current = (w.current + 1) % len(w.endpoints)
	}
}

// refuse notes that a node does not let anyone subscribe, and says whether all have.
func (w *webSockets) refuse(number int) bool {
	w.leave(number)
	w.lock.Lock()
	defer w.lock.Unlock()
	w.refused[number] = true
	if len(w.refused) < len(w.endpoints) {
		return false
	}
	clear(w.refused)
	return true
}

// passedOver is a refusal after which there are other nodes to ask: it is not for good.
type passedOver struct{ refusal error }

func (e *passedOver) Error() string { return e.refusal.Error() }

func isRefusal(err error) bool {
	var refused *NodeError
	return errors.As(err, &refused) && refused.Method == subscribeMethod && !errors.Is(err, errFull) &&
		(refused.Code == methodNotFound || refused.Code == invalidParams)
}

// webSocketStream is one connection, and further ones to the same node if that takes no more subscriptions on the first.
type webSocketStream struct {
	source   *webSockets
	number   int
	endpoint string
	options  StreamOptions
	// done is closed when one of the connections has ended; err says why.
	done    chan struct{}
	running sync.WaitGroup

	lock        sync.Mutex
	connections []*logConn
	closed      bool
	err         error
}

// add watches a connection's end: the stream is over when one is, and all subscriptions are made again.
func (s *webSocketStream) add(conn *logConn) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.connections = append(s.connections, conn)
	s.running.Go(func() {
		<-conn.done
		s.lock.Lock()
		defer s.lock.Unlock()
		if s.err == nil {
			s.err = conn.failure()
			if !s.closed {
				s.source.leave(s.number)
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
		if !errors.Is(err, errFull) || conn.size() == 0 {
			return s.failed(err)
		}
		var left []solana.PublicKey
		for _, address := range addresses {
			if !conn.has(address) {
				left = append(left, address)
			}
		}
		addresses = left
		further, err := dialLogs(ctx, s.endpoint, s.options.Commitment, s.options.Notify)
		if err != nil {
			return s.failed(err)
		}
		s.add(further)
	}
}

// failed has the next stream be another node's.
func (s *webSocketStream) failed(err error) error {
	if !isRefusal(err) {
		s.source.leave(s.number)
		return err
	}
	if !s.source.refuse(s.number) {
		return &passedOver{err}
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

// eventSource is the one that was configured, or the WebSocket interfaces of the client's nodes.
func (c *Client) eventSource() EventSource {
	if c.source != nil {
		return c.source
	}
	return newWebSockets(append([]string{c.wsEndpoint}, c.wsFallbacks...))
}
