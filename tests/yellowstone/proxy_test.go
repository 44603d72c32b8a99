package yellowstone_test

import (
	"net"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy passes TCP connections on, until they are cut.
type proxy struct {
	listener net.Listener
	target   string
	running  sync.WaitGroup

	lock sync.Mutex
	open map[net.Conn]struct{}
	// forgotten is closed when nothing passes the connections any more that are open then.
	forgotten chan struct{}
	// away has it turn everyone away.
	away bool
}

func startProxy(t *testing.T, target string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: listener, target: target, open: make(map[net.Conn]struct{}), forgotten: make(chan struct{})}
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
		forgotten, kept := p.keep(client, service)
		if !kept {
			continue
		}
		for to, from := range map[net.Conn]net.Conn{client: service, service: client} {
			p.running.Go(func() {
				pass(to, from, forgotten)
				p.end(client, service)
			})
		}
	}
}

// pass passes on what it reads, and nothing once the connection is forgotten.
func pass(to, from net.Conn, forgotten <-chan struct{}) {
	for read := make([]byte, 64<<10); ; {
		count, err := from.Read(read)
		if err != nil {
			return
		}
		select {
		case <-forgotten:
			continue
		default:
		}
		if _, err := to.Write(read[:count]); err != nil {
			return
		}
	}
}

// keep notes connections, or ends them if it is away.
func (p *proxy) keep(both ...net.Conn) (forgotten <-chan struct{}, kept bool) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, one := range both {
		if p.away {
			_ = one.Close()
		} else {
			p.open[one] = struct{}{}
		}
	}
	return p.forgotten, !p.away
}

func (p *proxy) end(both ...net.Conn) {
	p.lock.Lock()
	defer p.lock.Unlock()
	for _, one := range both {
		_ = one.Close()
		delete(p.open, one)
	}
}

// cut ends all connections. The next ones are passed on.
func (p *proxy) cut() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for one := range p.open {
		_ = one.Close()
	}
	clear(p.open)
}

// forget has nothing pass the open connections any more, and leaves them open. The next ones are passed on.
func (p *proxy) forget() {
	p.lock.Lock()
	defer p.lock.Unlock()
	close(p.forgotten)
	p.forgotten = make(chan struct{})
}

// goAway ends all connections, and passes none on until comeBack.
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
