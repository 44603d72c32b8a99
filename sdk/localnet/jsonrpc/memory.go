package jsonrpc

import (
	"context"
	"net"
	"sync"
)

// memory is a listener whose connections stay within the process.
type memory struct {
	accepted chan net.Conn
	closed   chan struct{}
	close    func()
}

func newMemory() *memory {
	m := &memory{accepted: make(chan net.Conn), closed: make(chan struct{})}
	m.close = sync.OnceFunc(func() { close(m.closed) })
	return m
}

// dial opens a connection.
func (m *memory) dial(ctx context.Context) (net.Conn, error) {
	client, server := net.Pipe()
	var err error
	select {
	case m.accepted <- server:
		return client, nil
	case <-m.closed:
		err = net.ErrClosed
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	_, _ = client.Close(), server.Close()
	return nil, &net.OpError{Op: "dial", Net: "memory", Addr: address{}, Err: err}
}

// Accept implements net.Listener.
func (m *memory) Accept() (net.Conn, error) {
	select {
	case accepted := <-m.accepted:
		return accepted, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (m *memory) Close() error {
	m.close()
	return nil
}

// Addr implements net.Listener.
func (m *memory) Addr() net.Addr { return address{} }

type address struct{}

// Network implements net.Addr.
func (address) Network() string { return "memory" }

// String implements net.Addr.
func (address) String() string { return "in-process" }
