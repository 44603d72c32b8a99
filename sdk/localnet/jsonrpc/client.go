package jsonrpc

import (
	"context"
	"net"
	"net/http"

	"github.com/gagliardetto/solana-go/rpc"
	"github.com/gagliardetto/solana-go/rpc/jsonrpc"
)

// InProcess holds addresses for connections that use no port: use them with [Server.Dial].
var InProcess = Endpoints{RPC: "http://" + InProcessAddress, WS: "ws://" + InProcessAddress}

// InProcessAddress is the host and port of [InProcess].
const InProcessAddress = "in-process.invalid:8899"

// Dial opens a connection to the server that needs no port, for HTTP or a WebSocket. It ignores the network and the
// address. After Close it returns an error.
func (s *Server) Dial(ctx context.Context, _, _ string) (net.Conn, error) { return s.memory.dial(ctx) }

// Client returns a JSON-RPC client that needs no port. Close it before the server.
func (s *Server) Client() *rpc.Client {
	client := &http.Client{Transport: &http.Transport{DialContext: s.Dial}}
	return rpc.NewWithCustomRPCClient(jsonrpc.NewClientWithOpts(InProcess.RPC, &jsonrpc.RPCClientOpts{HTTPClient: client}))
}
