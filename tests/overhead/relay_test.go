package overhead_test

import (
	"io"
	"net"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// relay passes connections on to a node, and can cut them.
type relay struct {
	url      string
	listener net.Listener
	to       string

	lock sync.Mutex
	open []net.Conn
	// accepted counts the connections.
	accepted int
	running  sync.WaitGroup
}

func newRelay(t testing.TB, nodeURL string) *relay {
	t.Helper()
	node, err := url.Parse(nodeURL)
	require.NoError(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	r := &relay{url: "ws://" + listener.Addr().String() + node.Path, listener: listener, to: node.Host}
	r.running.Go(r.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		r.cut()
		r.running.Wait()
	})
	return r
}

func (r *relay) accept() {
	for {
		near, err := r.listener.Accept()
		if err != nil {
			return
		}
		far, err := net.Dial("tcp", r.to)
		if err != nil {
			_ = near.Close()
			continue
		}
		r.lock.Lock()
		r.open = append(r.open, near, far)
		r.accepted++
		r.lock.Unlock()
		for from, to := range map[net.Conn]net.Conn{near: far, far: near} {
			r.running.Go(func() {
				_, _ = io.Copy(to, from)
				_ = to.Close()
			})
		}
	}
}

// cut closes all connections.
func (r *relay) cut() {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, connection := range r.open {
		_ = connection.Close()
	}
	r.open = nil
}

func (r *relay) connections() int {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.accepted
}
