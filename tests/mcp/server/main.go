// Command server serves the gateway's MCP handler to the conformance tests of the protocol, with the full
// middleware: see toolchain/mcp-conformance. Use it for tests only: callers are anonymous.
//
//	server -listen 127.0.0.1:0             # the gateway's tools, on an empty database
//	server -listen 127.0.0.1:0 -fixtures   # the tools that the conformance tests call
//
// It prints the URL on a single line. The fixtures come from the protocol's SDK. The script adds them with
// the build tag conformance.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/haggle-protocol/haggle/internal/gateway/identity"
	gateway "github.com/haggle-protocol/haggle/internal/gateway/mcp"
	"github.com/haggle-protocol/haggle/internal/gateway/service"
	"github.com/haggle-protocol/haggle/internal/gateway/store"
)

// newFixtures returns a server with the fixtures. It is nil if the build tag is not set.
var newFixtures func(context.Context) *mcp.Server

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address to listen on")
	fixtures := flag.Bool("fixtures", false, "serve the fixtures instead of the gateway's tools")
	sessions := flag.Bool("sessions", false, "keep sessions, for fixtures that send requests to the client")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := serve(ctx, os.Stdout, *listen, *fixtures, *sessions); err != nil {
		log.Fatal(err)
	}
}

func serve(ctx context.Context, out io.Writer, listen string, fixtures, sessions bool) (err error) {
	folder, err := os.MkdirTemp("", "haggle-mcp-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	database, err := store.Open(ctx, store.Config{Address: "sqlite:" + filepath.Join(folder, "gateway.db")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, database.Close()) }()
	s, err := service.New(service.Config{Store: database})
	if err != nil {
		return err
	}
	authenticator, err := identity.New(identity.Config{Registry: service.Registry{Store: database}})
	if err != nil {
		return err
	}
	server, err := gateway.New(gateway.Config{Service: s, Caller: gateway.CallerOfRequest})
	if err != nil {
		return err
	}
	if fixtures {
		if newFixtures == nil {
			return errors.New("server: built without fixtures: use toolchain/mcp-conformance")
		}
		server = newFixtures(ctx)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(out, "http://%s/mcp\n", listener.Addr()); err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle("/mcp", gateway.Handler(server, authenticator, gateway.HTTPConfig{Sessions: sessions}))
	web := &http.Server{Handler: mux}
	context.AfterFunc(ctx, func() { _ = web.Close() })
	if err := web.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
