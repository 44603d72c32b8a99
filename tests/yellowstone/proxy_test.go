package yellowstone_test

import (
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy passes TCP connections on until cut.
type proxy struct {
	listener net.Listener
	target   string
	running  sync.WaitGroup

	lock sync.Mutex
	open map[net.Conn]struct{}
	// stalled is closed when the open connections stop transmitting.
	stalled chan struct{}
	// away makes it refuse all connections.
	away bool
}

func startProxy(t *testing.T, target string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: listener, target: target, open: make(map[net.Conn]struct{}), stalled: make(chan struct{})}
	p.running.Go(p.serve)
	t.Cleanup(func() {
		_ = listener.Close()
		p.goAway()
		p.running.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) serve() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return
		}
		service, err := net.Dial("tcp", p.target)
		if err != nil {
			_ = client.Close()
			continue
		}
		stalled, kept := p.keep(client, service)
		if !kept {
			continue
		}
		for to, from := range map[net.Conn]net.Conn{client: service, service: client} {
			p.running.Go(func() {
				pass(to, from, stalled)
				p.end(client, service)
			})
		}
	}
}

// pass transmits data until the connection is stalled.
func pass(to, from net.Conn, stalled <-chan struct{}) {
	for read := make([]byte, 64<<10); ; {
		count, err := from.Read(read)
		if err != nil {
			return
		}
		select {
		case <-stalled:
			continue
		default:
		}
		if _, err := to.Write(read[:count]); err != nil {
			return
		}
	}
}

// keep registers connections, or closes them if away is set.
func (p *proxy) keep(both ...net.Conn) (stalled <-chan struct{}, kept bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, one := range both {
		if p.away {
			_ = one.Close()
		} else {
			p.open[one] = struct{}{}
		}
	}
	return p.stalled, !p.away
}

func (p *proxy) end(both ...net.Conn) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, one := range both {
		_ = one.Close()
		delete(p.open, one)
	}
}

// cut closes all connections. It passes later connections on.
func (p *proxy) cut() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for one := range p.open {
		_ = one.Close()
	}
	clear(p.open)
}

// stall stops all open connections from transmitting, and leaves them open. It passes later connections on.
func (p *proxy) stall() {
	p.lock.Lock()
	defer p.lock.Unlock()
	close(p.stalled)
	p.stalled = make(chan struct{})
}

// goAway closes all connections, and refuses new connections until comeBack.
func (p *proxy) goAway() {
	p.setAway(true)
	p.cut()
}

func (p *proxy) comeBack() { p.setAway(false) }

func (p *proxy) setAway(away bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.away = away
}
