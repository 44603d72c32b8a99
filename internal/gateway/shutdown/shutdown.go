// Package shutdown ends long responses when their server shuts down. [http.Server.Shutdown] waits for all
// requests, so a stream or a long poll would delay it until its own limit.
//
//	server := &http.Server{Handler: handler}
//	shutdown.Register(server)
//
//	// In the handler:
//	ctx, cancel := shutdown.Context(r.Context())
//	defer cancel()
package shutdown

import (
	"context"
	"net"
	"net/http"
)

type key struct{}

// Register makes the server's shutdown end the contexts that [Context] returns for its requests. Call it before the
// server starts. It sets [http.Server.BaseContext].
func Register(server *http.Server) {
	begun, begin := context.WithCancel(context.Background())
	server.RegisterOnShutdown(begin)
	server.BaseContext = func(net.Listener) context.Context {
		return context.WithValue(context.Background(), key{}, begun)
	}
}

// Context returns a context that ends with ctx, or when the server of ctx shuts down. If no server is registered,
// it ends with ctx only. Call cancel to free its resources.
func Context(ctx context.Context) (_ context.Context, cancel context.CancelFunc) {
	until, end := context.WithCancel(ctx)
	begun, registered := ctx.Value(key{}).(context.Context)
	if !registered {
		return until, end
	}
	stop := context.AfterFunc(begun, end)
	return until, func() {
		stop()
		end()
	}
}
